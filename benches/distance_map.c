/* The distance map in C, for comparison: as examples/distance_map.py, exponent 2, float32, one thread.
 *
 * Usage: distance_map SIZE COUNT, with COUNT lines of "X Y" on standard input.
 * Writes the pixels, SIZE * SIZE floats, to standard output and its own seconds to standard error.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long positive(const char *text, const char *name)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || value < 1 || value > 1 << 15) {
        fprintf(stderr, "distance_map: %s must be from 1 to %d, got `%s`\n", name, 1 << 15, text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: distance_map SIZE COUNT <points >pixels\n");
        return 2;
    }
    const long size = positive(argv[1], "SIZE"), count = positive(argv[2], "COUNT");
    float *px = malloc((size_t)count * sizeof *px), *py = malloc((size_t)count * sizeof *py);
    float *pixels = malloc((size_t)size * (size_t)size * sizeof *pixels);
    if (!px || !py || !pixels) {
        fprintf(stderr, "distance_map: out of memory\n");
        return 1;
    }
    for (long k = 0; k < count; k++) {
        double x, y;
        if (scanf("%lf %lf", &x, &y) != 2) {
            fprintf(stderr, "distance_map: wanted %ld points, got %ld\n", count, k);
            return 1;
        }
        px[k] = (float)x;
        py[k] = (float)y;
    }

    const double start = now();
    float brightest = 0;
    for (long i = 0; i < size; i++) {
        /* One row for all points: it stays in the cache, and the compiler can use vectors. */
        float *row = pixels + i * size;
        for (long j = 0; j < size; j++)
            row[j] = INFINITY;
        for (long k = 0; k < count; k++) {
            const float dx = (float)i - px[k], x2 = dx * dx, y = py[k];
            for (int j = 0; j < (int)size; j++) {
                const float dy = (float)j - y;
                const float d = sqrtf(x2 + dy * dy);
                row[j] = d < row[j] ? d : row[j];
            }
        }
        for (long j = 0; j < size; j++)
            brightest = row[j] > brightest ? row[j] : brightest;
    }
    for (long i = 0; i < size * size; i++)
        pixels[i] = 255 * (pixels[i] / brightest);
    fprintf(stderr, "%.9f\n", now() - start);

    if (fwrite(pixels, sizeof *pixels, (size_t)(size * size), stdout) != (size_t)(size * size))
        return 1;
    free(px);
    free(py);
    free(pixels);
    return 0;
}
