"""The pictures that the demo writes: each program's by NumPy and by gpupy, and all of them side by side."""

from PIL import Image, ImageDraw

MARGIN = 12
CAPTION = 24


def side_by_side(rows):
    """Makes one image of rows of (caption, image)."""
    width = max(sum(image.width + MARGIN for _, image in row) for row in rows) + MARGIN
    height = sum(max(image.height for _, image in row) + CAPTION + MARGIN for row in rows) + MARGIN
    sheet = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(sheet)
    y = MARGIN
    for row in rows:
        x = MARGIN
        for caption, image in row:
            draw.text((x, y + 4), caption, fill="black", font_size=14)
            sheet.paste(image.convert("RGB"), (x, y + CAPTION))
            x += image.width + MARGIN
        y += max(image.height for _, image in row) + CAPTION + MARGIN
    return sheet
