"""Pillow: images of arrays, and arrays of images."""

import io

from steps import Steps

step = Steps("PIL.Image")


def pixels(np):
    return (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)


@step
def an_image_of_an_array(np, Image):
    return Image.fromarray(pixels(np)).getpixel((1, 2))


@step
def an_image_of_a_view(np, Image):
    return np.asarray(Image.fromarray(pixels(np)[::-1, 1:]))


@step
def an_image_of_bools(np, Image):
    return np.asarray(Image.fromarray(np.eye(3) > 0)).astype(int)


@step
def an_array_of_an_image(np, Image):
    return np.asarray(Image.new("RGB", (3, 2), (1, 2, 3))).mean(axis=(0, 1))


@step
def an_image_that_is_resized(np, Image):
    return np.asarray(Image.fromarray(pixels(np)).resize((2, 2)))


@step
def a_file(np, Image):
    kept = io.BytesIO()
    Image.fromarray(pixels(np)[..., 0]).save(kept, "png")
    return np.asarray(Image.open(kept)) + 1


@step
def a_pasted_image(np, Image):
    image = Image.new("RGB", (4, 4))
    image.paste(Image.fromarray(pixels(np)), (0, 0), Image.fromarray((np.eye(4) * 255).astype(np.uint8)))
    return np.asarray(image)


@step
def a_palette_of_scalars(np, Image):
    image = Image.new("L", (2, 2))
    image.putpixel((np.arange(2).max(), 0), int(pixels(np).max()))
    return np.asarray(image)


@step
def points_of_scalars(np, Image):
    from PIL import ImageDraw

    image = Image.new("L", (8, 8))
    x = np.linspace(1, 6, 2)
    ImageDraw.Draw(image).line([(x[0], x[0]), (x[1], x[1])], fill=255)
    return np.asarray(image)


test_pillow = step.tests()
