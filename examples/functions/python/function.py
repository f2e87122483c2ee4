"""A subscriber in Python: it prints a line for each end of an attempt, with the reason.

A broker sends an event again after a 5xx response, and drops it after a 4xx response.
"""

import sys

from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from cloudevents.core.exceptions import CloudEventValidationError
from waitress import serve


def line(event):
    """Reads like: default/flaky: attempt 0 Failed (application: exit code 1), may be restarted"""
    end = event.get_data()["end"]
    text = f"{event.get_subject()}: attempt {end['attempt']} {end['outcome']}"
    if "class" in end:
        text += f" ({end['class']}: {end.get('message') or end.get('reason', '')})"
    if end["restartAllowed"]:
        text += ", may be restarted"
    return text


def function(environ, start_response):
    """Receives one event, as a WSGI application."""
    headers = {key[5:].replace("_", "-").lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    try:
        event = from_http_event(HTTPMessage(headers=headers, body=environ["wsgi.input"].read()))
        print(line(event), flush=True)
    except (CloudEventValidationError, ValueError, KeyError, TypeError) as error:
        print(f"refused: {error}", file=sys.stderr, flush=True)
        start_response("400 Bad Request", [("Content-Type", "text/plain")])
        return [f"this is not the end of an attempt: {error}\n".encode()]
    start_response("204 No Content", [])
    return []


if __name__ == "__main__":
    serve(function, port=8080)
