"""`opik-checkembed report`: finished results as a page to look at."""

from __future__ import annotations

from pathlib import Path

import click

from opik_checkembed.errors import ConfigurationError


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page; a file that is there already is replaced.",
)
@click.option("--title", help="The page's heading; the name of RESULTS if not given.")
def report(results: Path, out: Path, title: str | None) -> None:
    """Make one HTML page of RESULTS: scores, items, and what each score rests on.

    RESULTS is what `run --out`, `demo` or `LocalResults.to_json` wrote. The page is a single file that loads nothing,
    so that it can be mailed, or kept as an artifact of a build; it holds the questions, answers and samples.
    """
    from opik_checkembed.report.page import results_page
    from opik_checkembed.results import LocalResults

    if out.resolve() == results.resolve():
        raise ConfigurationError(f"--out {out} would replace the results it is made of; name another file")
    found = LocalResults.from_json(results)
    page = results_page(found, title=title or results.stem)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigurationError(f"{out} cannot be written: {error}") from error
    click.echo(f"Wrote {out} ({len(found.items)} items, {out.stat().st_size / 1e6:.1f} MB)")
