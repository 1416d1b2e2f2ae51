"""What the user wrote: the syntax tree, faithful to the text, and the ways in and out of it. Imports `base`."""
