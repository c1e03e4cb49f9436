"""Two runs over the same items compared: did the change make answers worse?"""
