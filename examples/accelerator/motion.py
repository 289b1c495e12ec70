"""Motion estimation: where each block of 16 × 16 pixels of an image of 512 × 512 has moved in the next one.

As encoders of video do it: a block's vector is the one with the least sum of absolute differences. 7 × 7
vectors are tried in images of a quarter of the size; the best one, and those around it, then in images of
half the size, of their own size, and of twice and four times the size, for quarters of a pixel.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/motion.py --output motion.png
    python -m gpupy examples/accelerator/motion.py --output motion.png
"""

import argparse

import numpy as np
from PIL import ImageDraw

import scene

BLOCK = 16


def start(size=512):
    """An image, and the next one: it has turned a little, grown, and moved."""
    rows, columns = np.mgrid[:size, :size] - size / 2
    turned = 0.985 * rows + 0.02 * columns - 2, 0.985 * columns - 0.02 * rows - 3.5
    return scene.texture(rows, columns, 200, 18), scene.texture(*turned, 200, 18)


def motion(before, after):
    """The vectors of the blocks, down and right, in pixels."""
    vectors = np.zeros((before.shape[0] // BLOCK, before.shape[1] // BLOCK, 2), dtype=np.int32)
    half_before, half_after = halved(before), halved(after)
    vectors = best(halved(half_before), halved(half_after), vectors, block=4, reach=3)
    vectors = best(half_before, half_after, 2 * vectors, block=8, reach=1)
    vectors = best(before, after, 2 * vectors, block=16, reach=1)
    double_after = doubled(after)
    vectors = best(before, double_after, 2 * vectors, block=16, reach=1, scale=2)
    vectors = best(before, doubled(double_after), 2 * vectors, block=16, reach=1, scale=4)
    return vectors.astype(before.dtype) / 4


def best(before, after, vectors, *, block, reach, scale=1):
    """The best vector for each block among those around its old one; `after` is `scale` times as large."""
    down, across = vectors.shape[:2]
    blocks = before.reshape(down, block, across, block)
    moved_down, moved_right = np.moveaxis(vectors, -1, 0)[:, :, np.newaxis, :, np.newaxis]
    rows = scale * np.arange(down * block).reshape(down, block, 1, 1) + moved_down
    columns = scale * np.arange(across * block).reshape(across, block) + moved_right
    side = np.arange(-reach, reach + 1, dtype=vectors.dtype)
    steps = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)

    costs = []
    for step_down, step_right in steps.tolist():
        row = (rows + step_down).clip(0, after.shape[0] - 1)
        column = (columns + step_right).clip(0, after.shape[1] - 1)
        costs.append(np.abs(blocks - after[row, column]).sum(axis=(1, 3)))
    return vectors + steps[np.argmin(np.stack(costs), axis=0)]


def halved(image):
    """An image of half the size: each pixel is the mean of four."""
    height, width = image.shape
    return image.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))


def doubled(image):
    """An image of twice the size: new pixels lie half-way between old ones."""
    return taller(taller(image).T).T


def taller(image):
    """An image with a row between each and the next; the last one comes twice."""
    height, width = image.shape
    between = (image + np.concatenate([image[1:], image[-1:]])) / 2
    return np.stack([image, between], axis=1).reshape(2 * height, width)


def picture(before, vectors):
    """The first image, faint, with an arrow for each block, three times as long as the motion."""
    image = scene.image(96 + before / 4).convert("RGB")
    draw = ImageDraw.Draw(image)
    for i, j in np.ndindex(*vectors.shape[:2]):
        y, x = BLOCK * i + BLOCK / 2, BLOCK * j + BLOCK / 2
        down, right = vectors[i, j].tolist()
        draw.line((x, y, x + 3 * right, y + 3 * down), fill=(255, 220, 60))
        draw.rectangle((x - 1, y - 1, x + 1, y + 1), fill=(255, 60, 60))
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction, a multiple of 16")
    parser.add_argument("--output", default="motion.png", help="the image to write")
    options = parser.parse_args()

    images = start(options.size)
    vectors = motion(*images)
    picture(images[0], vectors).save(options.output)
    down, right = vectors.mean(axis=(0, 1))
    print(f"blocks move by {down:.3f} down and {right:.3f} to the right on average")


if __name__ == "__main__":
    main()
