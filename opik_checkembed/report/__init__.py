"""What a person looks at: heatmaps, and the page that gathers a run."""
