"""A server with what the conformance suite expects of one. It is wrapped as `test`, so that its tool
`simple_text` is the suite's `test_simple_text`.
"""

import asyncio

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, UserMessage
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

# An image of one pixel, and a sound without samples.
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
AUDIO = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

app = MCPServer("test")


def text(value):
    return TextContent(type="text", text=value)


def image():
    return ImageContent(type="image", data=IMAGE, mime_type="image/png")


def embedded(uri, value, kind="text/plain"):
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=value))


@app.tool(structured_output=False)
def simple_text():
    """A text."""
    return [text("This is a simple text response for testing.")]


@app.tool(structured_output=False)
def image_content():
    """An image."""
    return [image()]


@app.tool(structured_output=False)
def audio_content():
    """A sound."""
    return [AudioContent(type="audio", data=AUDIO, mime_type="audio/wav")]


@app.tool(structured_output=False)
def embedded_resource():
    """A resource in the result."""
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@app.tool(structured_output=False)
def multiple_content_types():
    """A text, an image, and a resource."""
    data = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [text("Multiple content types test:"), image(), data]


@app.tool(structured_output=False)
def error_handling():
    """An error."""
    raise ValueError("This tool intentionally returns an error for testing")


@app.tool(structured_output=False)
async def tool_with_progress(ctx: Context):
    """Reports its progress."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return [text("done")]


class User(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@app.tool(structured_output=False)
async def elicitation(message: str, ctx: Context):
    """Asks the user."""
    answer = await ctx.elicit(message, User)
    return [text(f"User response: action={answer.action}")]


@app.tool()
def big(characters: int) -> str:
    """A text of any length."""
    return "0123456789 line\n" * (characters // 16)


@app.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@app.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    import base64

    return base64.b64decode(IMAGE)


@app.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    """A document by its number."""
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@app.prompt()
def simple_prompt():
    """A prompt."""
    return "This is a simple prompt for testing."


@app.prompt()
def prompt_with_arguments(arg1: str, arg2: str):
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@app.prompt()
def prompt_with_embedded_resource(resourceUri: str):
    """A prompt with a resource."""
    content = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(content), UserMessage(text("Please process the embedded resource above."))]


@app.prompt()
def prompt_with_image():
    """A prompt with an image."""
    return [UserMessage(image()), UserMessage(text("Please analyze the image above."))]


@app.completion()
async def complete(ref, argument, context):
    from mcp.types import Completion

    return Completion(values=["paris", "park"], has_more=False)


if __name__ == "__main__":
    app.run("stdio")
