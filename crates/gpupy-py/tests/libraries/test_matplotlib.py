"""matplotlib: drawings of our arrays are equal to those of NumPy's, to the pixel."""

import hashlib
import io

from steps import Steps

step = Steps("matplotlib")


def drawn(matplotlib, draw):
    """The picture that a function draws, as a digest."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(2, 2))
    given = draw(axes)
    kept = io.BytesIO()
    figure.savefig(kept, format="rgba", dpi=50)
    plt.close(figure)
    return hashlib.sha256(kept.getvalue()).hexdigest(), given


@step
def a_line(np, matplotlib):
    x = np.linspace(0, 6, 20)
    return drawn(matplotlib, lambda axes: len(axes.plot(x, np.sin(x))))


@step
def several_lines(np, matplotlib):
    x = np.linspace(0, 6, 20)
    return drawn(matplotlib, lambda axes: len(axes.plot(x, np.stack([x, x * 2], axis=1))))


@step
def an_image(np, matplotlib):
    return drawn(matplotlib, lambda axes: axes.imshow(np.arange(16.0).reshape(4, 4)).get_clim())


@step
def a_picture_of_colours(np, matplotlib):
    colours = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)
    return drawn(matplotlib, lambda axes: axes.imshow(colours) and 1)


@step
def points(np, matplotlib):
    x = np.arange(10.0)
    return drawn(matplotlib, lambda axes: axes.scatter(x, x**2, s=x * 3, c=x) and 1)


@step
def bars(np, matplotlib):
    return drawn(matplotlib, lambda axes: len(axes.bar(np.arange(4), np.arange(4) + 1, yerr=np.ones(4))))


@step
def a_histogram(np, matplotlib):
    return drawn(matplotlib, lambda axes: axes.hist(np.arange(20.0) ** 2, bins=np.linspace(0, 400, 6))[:2])


@step
def boxes_of_one_axis(np, matplotlib):
    return drawn(matplotlib, lambda axes: len(axes.boxplot(np.arange(20.0))["boxes"]))


@step
def boxes_of_two_axes(np, matplotlib):
    return drawn(matplotlib, lambda axes: len(axes.boxplot(np.arange(60.0).reshape(20, 3) ** 2)["boxes"]))


@step
def violins_of_two_axes(np, matplotlib):
    data = np.arange(60.0).reshape(20, 3) ** 2
    return drawn(matplotlib, lambda axes: len(axes.violinplot(data)["bodies"]))


@step
def contours(np, matplotlib):
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    return drawn(matplotlib, lambda axes: axes.contourf(x, y, x * y).levels)


@step
def a_mesh(np, matplotlib):
    edges = np.linspace(0, 1, 5)
    return drawn(matplotlib, lambda axes: axes.pcolormesh(edges, edges, np.arange(16).reshape(4, 4)) and 1)


@step
def arrows(np, matplotlib):
    x, y = np.meshgrid(np.arange(3.0), np.arange(3.0))
    return drawn(matplotlib, lambda axes: axes.quiver(x, y, -y, x) and 1)


@step
def a_filled_stretch(np, matplotlib):
    x = np.linspace(0, 6, 20)
    return drawn(matplotlib, lambda axes: axes.fill_between(x, np.sin(x), where=np.sin(x) > 0) and 1)


@step
def errors_of_points(np, matplotlib):
    x = np.arange(4.0)
    return drawn(matplotlib, lambda axes: axes.errorbar(x, x, yerr=np.stack([x, x * 2])) and 1)


@step
def limits_and_ticks(np, matplotlib):
    x = np.arange(4.0)

    def draw(axes):
        axes.set_xlim(x.min(), x.max())
        axes.set_xticks(x, [f"{value:.1f}" for value in x])
        axes.axvline(x.mean())
        axes.text(x[1], x.mean() / 4, "a")
        return axes.get_xlim()

    return drawn(matplotlib, draw)


@step
def a_surface(np, matplotlib):
    def draw(axes):
        solid = axes.figure.add_subplot(projection="3d")
        x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
        return solid.plot_surface(x, y, x * y) and 1

    return drawn(matplotlib, draw)


@step
def parts_of_a_pie(np, matplotlib):
    return drawn(matplotlib, lambda axes: len(axes.pie(np.array([1.0, 2.0, 3.0]), explode=np.zeros(3))[0]))


@step
def stacked_areas(np, matplotlib):
    return drawn(matplotlib, lambda axes: len(axes.stackplot(np.arange(4), np.arange(8).reshape(2, 4))))


@step
def segments(np, matplotlib):
    from matplotlib.collections import LineCollection

    lines = np.arange(12.0).reshape(3, 2, 2)
    return drawn(matplotlib, lambda axes: axes.add_collection(LineCollection(lines)) and 1)


@step
def colours_of_numbers(np, matplotlib):
    return matplotlib.colormaps["viridis"](np.linspace(0, 1, 4))


@step
def a_path_that_is_transformed(np, matplotlib):
    from matplotlib.transforms import Affine2D

    return Affine2D().rotate(1.0).transform(np.arange(4.0).reshape(2, 2))


@step
def a_data_line_that_is_changed(np, matplotlib):
    def draw(axes):
        (line,) = axes.plot(np.zeros(5))
        line.set_ydata(np.arange(5.0))
        axes.relim()
        axes.autoscale_view()
        return axes.get_ylim()

    return drawn(matplotlib, draw)


@step
def points_without_values_are_left_out(np, matplotlib):
    from matplotlib import cbook

    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    return list(cbook.delete_masked_points(masked, np.array([1.0, 5.0, np.nan]), np.arange(3.0)))


@step
def a_picture_of_bytes_is_not_mapped_to_colours(np, matplotlib):
    picture = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)
    return matplotlib.cm.ScalarMappable().to_rgba(picture)


@step
def a_hill_that_is_lit(np, matplotlib):
    return matplotlib.colors.LightSource().hillshade(np.arange(12.0).reshape(3, 4) ** 2)


test_matplotlib = step.tests()


@step
def an_image_that_is_resampled(np, matplotlib):
    # In C, which a program calls itself.
    from matplotlib import image, transforms

    given, made = np.arange(6.0).reshape(2, 3), np.zeros((4, 6))
    image.resample(given, made, transforms.Affine2D().scale(2), interpolation=image.NEAREST)
    return made.tolist()
