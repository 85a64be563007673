"""Reading and writing of the links that store a page's settings, and ready-made examples."""
