"""The board in the browser: what it may ask for, and the server that answers.

Importing it loads nothing heavy: Starlette and uvicorn only where a server is made.
"""
