/* A driver that was written for version 1.3 of the table: maps and reductions over float32, int32
 * and bool, one point after another on the CPU. It uses what 1.1 added (several reductions of one
 * program), what 1.2 added (launches on host memory) and what 1.3 added (blocks that are lent: a
 * copy in host memory stands for the object, and its address for the name). Every thread counts as
 * one with the shared context. It touches no byte of the host's structs beyond their size, as the
 * host may be older.
 */

#include "gpupy_driver.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the largest block, unless the configuration says less. */
#define BLOCK_BYTES ((uint64_t)1 << 28)
/* Bytes of the widest of our dtypes. */
#define WIDEST 4
/* What one point of a reduction reads must fit in any block. */
#define LEAST_BLOCK 256
/* The most operations of a program, unless the configuration says less; our only resource. */
#define OPERATIONS 256
/* The most destinations of a program, and reductions. */
#define DESTS 4
/* The lanes of a step of a reduction, and the points that it combines. */
#define LANES 16
#define CHUNK 256

/* Whether a struct of the host has a field, which newer versions added. */
#define HAS(type, from, field) \
  ((from)->size >= offsetof(type, field) + sizeof(((type *)NULL)->field))

typedef struct block {
  struct block *next;
  uint64_t handle;
  uint32_t dtype;
  uint64_t len;
  uint8_t *data;
  /* The copy that is lent, or null. */
  uint8_t *lent;
} block;

typedef struct driver {
  block *blocks;
  /* Bytes that there is still memory for. */
  uint64_t room;
  /* Elements of the largest block. */
  uint64_t longest;
  /* The most operations of a program. */
  uint32_t operations;
  /* Whether blocks are lent. */
  bool shares;
} driver;

/* The last handle that any driver of this process gave out. */
static atomic_uint_fast64_t last_handle;

/* Fills in an error with one fact, and gives its kind. */
static int32_t fail(gpupy_error *error, int32_t kind, const char *message, const char *key,
                    uint64_t value) {
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->fact_keys[0], sizeof error->fact_keys[0], "%s", key);
  snprintf(error->fact_values[0], sizeof error->fact_values[0], "%llu", (unsigned long long)value);
  error->fact_count = 1;
  return kind;
}

/* Bytes of an element in host memory; 0 for a dtype that is not ours. */
static size_t size_of(uint32_t dtype) {
  switch (dtype) {
  case GPUPY_BOOL:
    return 1;
  case GPUPY_INT32:
  case GPUPY_FLOAT32:
    return 4;
  default:
    return 0;
  }
}

static block *find(const driver *self, uint64_t handle) {
  block *b = self->blocks;
  while (b && b->handle != handle)
    b = b->next;
  return b;
}

/* ---- Opening and closing ---- */

static uint64_t at_most(uint64_t wanted, uint64_t ours) {
  return wanted == 0 || wanted > ours ? ours : wanted;
}

static int32_t init(void **state, const gpupy_config *config, gpupy_capabilities *found,
                    gpupy_error *error) {
  driver *self = calloc(1, sizeof *self);
  if (!self)
    return fail(error, GPUPY_UNAVAILABLE, "there is no memory at all", "bytes", sizeof *self);
  self->room = at_most(config->device_bytes, UINT64_MAX);
  self->longest = at_most(config->block_bytes, BLOCK_BYTES) / WIDEST;
  if (self->longest < LEAST_BLOCK)
    self->longest = LEAST_BLOCK;
  self->operations = (uint32_t)at_most(config->resources[0], OPERATIONS);
  snprintf(found->device, sizeof found->device, "one point at a time on the CPU, in C");
  found->forms = (uint32_t)1 << GPUPY_FORM_REDUCE;
  found->max_dests = DESTS;
  found->max_block_len = self->longest;
  found->dtype_count = 3;
  found->dtypes[0] = GPUPY_BOOL;
  found->dtypes[1] = GPUPY_INT32;
  found->dtypes[2] = GPUPY_FLOAT32;
  found->resource_count = 1;
  found->resource_limits[0] = self->operations;
  snprintf(found->resource_names[0], sizeof found->resource_names[0], "operations");
  if (HAS(gpupy_capabilities, found, max_reductions))
    found->max_reductions = DESTS;
  if (HAS(gpupy_capabilities, found, memory_launches))
    found->memory_launches = 1;
  self->shares = HAS(gpupy_config, config, share) && config->share != 0;
  if (HAS(gpupy_capabilities, found, lends) && self->shares)
    found->lends = (uint32_t)1 << GPUPY_LEND_BUFFER;
  *state = self;
  return GPUPY_OK;
}

static void cleanup(void *state) {
  driver *self = state;
  for (block *b = self->blocks, *next; b; b = next) {
    next = b->next;
    free(b->lent);
    free(b->data);
    free(b);
  }
  free(self);
}

/* ---- Blocks ---- */

static int32_t block_alloc(void *state, const gpupy_block_spec *spec, uint64_t *handle,
                           gpupy_error *error) {
  driver *self = state;
  size_t size = size_of(spec->dtype);
  if (size == 0)
    return fail(error, GPUPY_INVALID, "no block has this dtype", "dtype", spec->dtype);
  if (spec->len == 0 || spec->len > self->longest)
    return fail(error, GPUPY_INVALID, "no block has this length", "len", spec->len);
  uint64_t bytes = spec->len * size;
  block *b = bytes <= self->room ? malloc(sizeof *b) : NULL;
  uint8_t *data = b ? calloc(spec->len, size) : NULL;
  if (!data) {
    free(b);
    return fail(error, GPUPY_OUT_OF_MEMORY, "", "bytes", bytes);
  }
  *handle = atomic_fetch_add(&last_handle, 1) + 1;
  *b = (block){self->blocks, *handle, spec->dtype, spec->len, data, NULL};
  self->blocks = b;
  self->room -= bytes;
  return GPUPY_OK;
}

static void block_free(void *state, uint64_t handle) {
  driver *self = state;
  for (block **at = &self->blocks; *at; at = &(*at)->next) {
    block *b = *at;
    if (b->handle == handle) {
      *at = b->next;
      self->room += b->len * size_of(b->dtype);
      free(b->lent);
      free(b->data);
      free(b);
      return;
    }
  }
}

/* Finds part of a block, and refuses what is none. */
static int32_t part(const driver *self, uint64_t handle, uint64_t offset, size_t bytes,
                    uint8_t **data, gpupy_error *error) {
  block *b = find(self, handle);
  if (!b)
    return fail(error, GPUPY_INVALID, "there is no such block", "block", handle);
  size_t size = size_of(b->dtype);
  if (bytes % size != 0 || offset > b->len || bytes / size > b->len - offset)
    return fail(error, GPUPY_INVALID, "the range is not of the block", "len", b->len);
  *data = b->data + offset * size;
  return GPUPY_OK;
}

static int32_t block_read(void *state, uint64_t handle, uint64_t offset, uint8_t *out,
                          size_t bytes, gpupy_error *error) {
  uint8_t *data;
  int32_t kind = part(state, handle, offset, bytes, &data, error);
  if (kind == GPUPY_OK && bytes > 0)
    memcpy(out, data, bytes);
  return kind;
}

static int32_t block_write(void *state, uint64_t handle, uint64_t offset, const uint8_t *in,
                           size_t bytes, gpupy_error *error) {
  uint8_t *data;
  int32_t kind = part(state, handle, offset, bytes, &data, error);
  if (kind == GPUPY_OK && bytes > 0)
    memcpy(data, in, bytes);
  return kind;
}

/* ---- Operations: values are bits, a bool 0 or 1 ---- */

static float as_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Whether x is less than y. */
static bool less(uint32_t dtype, uint32_t x, uint32_t y) {
  return dtype == GPUPY_FLOAT32 ? as_float(x) < as_float(y) : (int32_t)x < (int32_t)y;
}

static bool equal(uint32_t dtype, uint32_t x, uint32_t y) {
  return dtype == GPUPY_FLOAT32 ? as_float(x) == as_float(y) : x == y;
}

static bool is_nan(uint32_t dtype, uint32_t x) {
  return dtype == GPUPY_FLOAT32 && (x & 0x7fffffff) > 0x7f800000;
}

/* An operation on operands of this dtype (of select: giving it). */
static uint32_t apply(uint16_t op, uint32_t dtype, uint32_t x, uint32_t y, uint32_t z) {
  bool is_float = dtype == GPUPY_FLOAT32, is_bool = dtype == GPUPY_BOOL;
  switch (op) {
  case GPUPY_OP_NEG:
    return is_float ? x ^ 0x80000000 : 0 - x;
  case GPUPY_OP_ABS:
    if (is_float)
      return x & 0x7fffffff;
    return (int32_t)x < 0 ? 0 - x : x;
  case GPUPY_OP_NOT:
    return is_bool ? !x : ~x;
  case GPUPY_OP_FLOOR:
    return of_float(floorf(as_float(x)));
  case GPUPY_OP_ADD:
    if (is_float)
      return of_float(as_float(x) + as_float(y));
    return is_bool ? x | y : x + y;
  case GPUPY_OP_SUB:
    return is_float ? of_float(as_float(x) - as_float(y)) : x - y;
  case GPUPY_OP_MUL:
    return is_float ? of_float(as_float(x) * as_float(y)) : x * y;
  case GPUPY_OP_MIN:
    return is_nan(dtype, x) || less(dtype, x, y) ? x : y;
  case GPUPY_OP_MAX:
    return is_nan(dtype, x) || less(dtype, y, x) ? x : y;
  case GPUPY_OP_AND:
    return x & y;
  case GPUPY_OP_OR:
    return x | y;
  case GPUPY_OP_XOR:
    return x ^ y;
  case GPUPY_OP_EQ:
    return equal(dtype, x, y);
  case GPUPY_OP_NE:
    return !equal(dtype, x, y);
  case GPUPY_OP_LT:
    return less(dtype, x, y);
  case GPUPY_OP_LE:
    return less(dtype, x, y) || equal(dtype, x, y);
  case GPUPY_OP_GT:
    return less(dtype, y, x);
  case GPUPY_OP_GE:
    return less(dtype, y, x) || equal(dtype, x, y);
  default: /* GPUPY_OP_SELECT */
    return x ? y : z;
  }
}

static int32_t get_method(void *state, uint32_t op, uint32_t dtype,
                          const gpupy_program **lowered) {
  (void)state, (void)lowered;
  if (size_of(dtype) == 0)
    return GPUPY_ABSENT;
  switch (op) {
  case GPUPY_OP_CONST:
  case GPUPY_OP_PARAM:
  case GPUPY_OP_INDEX:
  case GPUPY_OP_LOAD:
  case GPUPY_OP_STORE:
  case GPUPY_OP_ABS:
  case GPUPY_OP_ADD:
  case GPUPY_OP_MUL:
  case GPUPY_OP_MIN:
  case GPUPY_OP_MAX:
  case GPUPY_OP_EQ:
  case GPUPY_OP_NE:
  case GPUPY_OP_LT:
  case GPUPY_OP_LE:
  case GPUPY_OP_GT:
  case GPUPY_OP_GE:
  case GPUPY_OP_SELECT:
  case GPUPY_OP_REDUCE:
    return GPUPY_NATIVE;
  case GPUPY_OP_NOT:
  case GPUPY_OP_AND:
  case GPUPY_OP_OR:
  case GPUPY_OP_XOR:
    return dtype == GPUPY_FLOAT32 ? GPUPY_ABSENT : GPUPY_NATIVE;
  case GPUPY_OP_NEG:
  case GPUPY_OP_SUB:
    return dtype == GPUPY_BOOL ? GPUPY_ABSENT : GPUPY_NATIVE;
  case GPUPY_OP_FLOOR:
    return dtype == GPUPY_FLOAT32 ? GPUPY_NATIVE : GPUPY_ABSENT;
  default:
    return GPUPY_ABSENT;
  }
}

/* ---- Resources: the first count is of operations, the others are 0 ---- */

static void resource_zero(void *state, uint32_t *resources) {
  (void)state;
  memset(resources, 0, GPUPY_RESOURCES * sizeof *resources);
}

static void resource_get(void *state, const gpupy_part *part, uint32_t *resources) {
  resource_zero(state, resources);
  resources[0] = part->kind == GPUPY_PART_OP;
}

static void resource_add(void *state, uint32_t *total, const uint32_t *other) {
  (void)state;
  for (size_t k = 0; k < GPUPY_RESOURCES; k++)
    total[k] = other[k] > UINT32_MAX - total[k] ? UINT32_MAX : total[k] + other[k];
}

static void resource_sub(void *state, uint32_t *total, const uint32_t *other) {
  (void)state;
  for (size_t k = 0; k < GPUPY_RESOURCES; k++)
    total[k] = other[k] > total[k] ? 0 : total[k] - other[k];
}

static int32_t resource_check(void *state, const uint32_t *resources) {
  const driver *self = state;
  for (size_t k = 1; k < GPUPY_RESOURCES; k++)
    if (resources[k] > 0)
      return 0;
  return resources[0] <= self->operations;
}

/* ---- Programs ---- */

/* Whether it is one of the operations that we count, and not a leaf or a store. */
static bool computes(uint32_t op) { return op >= GPUPY_OP_NEG && op <= GPUPY_OP_SELECT; }

/* The dtype by which an operation is chosen. */
static uint8_t dtype_of(const gpupy_program *program, const gpupy_inst *inst) {
  bool by_operand = computes(inst->op) && inst->op != GPUPY_OP_SELECT;
  return by_operand ? program->insts[inst->args[0]].dtype : inst->dtype;
}

static int32_t check_ir(void *state, const gpupy_program *program, gpupy_check *check,
                        gpupy_error *error) {
  if (program->form != GPUPY_FORM_MAP && program->form != GPUPY_FORM_REDUCE)
    return fail(error, GPUPY_UNSUPPORTED, "there are only maps and reductions", "form",
                program->form);
  for (uint32_t k = 0; k < program->inst_count; k++) {
    const gpupy_inst *inst = &program->insts[k];
    /* First the operation alone: the arguments of one that we lack may be no values. */
    if ((get_method(state, inst->op, GPUPY_FLOAT32, NULL) == GPUPY_ABSENT &&
         get_method(state, inst->op, GPUPY_INT32, NULL) == GPUPY_ABSENT) ||
        get_method(state, inst->op, dtype_of(program, inst), NULL) == GPUPY_ABSENT)
      return fail(error, GPUPY_UNSUPPORTED, "there is no such operation here", "op", inst->op);
    check->resources[0] += computes(inst->op);
  }
  check->fits = (uint32_t)resource_check(state, check->resources);
  return GPUPY_OK;
}

/* The element that an access means at a point. */
static int64_t place(int64_t offset, const int64_t *strides, const size_t *point, uint32_t rank) {
  for (uint32_t axis = 0; axis < rank; axis++)
    offset += strides[axis] * (int64_t)point[axis];
  return offset;
}

static uint32_t load(const block *b, int64_t at) {
  uint32_t bits;
  if (b->dtype == GPUPY_BOOL)
    return b->data[at];
  memcpy(&bits, b->data + 4 * at, 4);
  return bits;
}

static void store(block *b, int64_t at, uint32_t bits) {
  if (b->dtype == GPUPY_BOOL)
    b->data[at] = (uint8_t)bits;
  else
    memcpy(b->data + 4 * at, &bits, 4);
}

/* A launch with its operands and destinations as blocks. */
typedef struct work {
  const gpupy_launch *launch;
  block **operands;
  block **dests;
  /* The value of each instruction at the point that is evaluated. */
  uint32_t *values;
} work;

/* Evaluates some instructions at one point. */
static void evaluate(const work *w, const size_t *point, uint32_t from, uint32_t to) {
  const gpupy_launch *launch = w->launch;
  const gpupy_program *program = launch->program;
  uint32_t rank = program->rank, *values = w->values;
  for (uint32_t k = from; k < to; k++) {
    const gpupy_inst *inst = &program->insts[k];
    uint32_t a = inst->args[0], b = inst->args[1], c = inst->args[2];
    switch (inst->op) {
    case GPUPY_OP_CONST:
      values[k] = a;
      break;
    case GPUPY_OP_PARAM:
      values[k] = (uint32_t)launch->params[a];
      break;
    case GPUPY_OP_INDEX:
      values[k] = (uint32_t)place(launch->access_offsets[a], launch->access_strides + a * rank,
                                  point, rank);
      break;
    case GPUPY_OP_LOAD:
      values[k] = load(w->operands[a], place(launch->access_offsets[b],
                                             launch->access_strides + b * rank, point, rank));
      break;
    case GPUPY_OP_STORE:
      store(w->dests[a],
            place(launch->dest_offsets[a], launch->dest_strides + a * rank, point, rank),
            values[b]);
      break;
    default:
      /* Arguments that an operation does not use are 0, and so name some value. */
      values[k] = apply(inst->op, dtype_of(program, inst), values[a], values[b], values[c]);
    }
  }
}

/* The operation of a `reduce`: the form's, and of a further one its own. */
static uint16_t reduces_by(const gpupy_program *program, uint32_t first, uint32_t k) {
  return (uint16_t)(k == first ? program->form_op : program->insts[k].args[1]);
}

/* Reduces the input points of an output point: `count` reductions, which follow each other. */
static void reduce(const work *w, const size_t *output, uint32_t first, uint32_t count) {
  const gpupy_program *program = w->launch->program;
  uint32_t lanes[DESTS][LANES], last = program->rank - 1;
  size_t point[GPUPY_RANK], start = output[last] * CHUNK, n = w->launch->shape[last] - start;
  memcpy(point, output, sizeof point);
  if (n > CHUNK)
    n = CHUNK;
  for (size_t k = 0; k < n; k++) {
    point[last] = start + k;
    evaluate(w, point, 0, first);
    for (uint32_t r = 0; r < count; r++) {
      const gpupy_inst *inst = &program->insts[first + r];
      uint32_t value = w->values[inst->args[0]], *lane = &lanes[r][k % LANES];
      uint16_t op = reduces_by(program, first, first + r);
      *lane = k < LANES ? value : apply(op, inst->dtype, *lane, value, 0);
    }
  }
  for (uint32_t r = 0; r < count; r++) {
    uint16_t op = reduces_by(program, first, first + r);
    uint8_t dtype = program->insts[first + r].dtype;
    for (size_t half = LANES / 2; half > 0; half /= 2)
      for (size_t l = 0; l < half && l + half < n; l++)
        lanes[r][l] = apply(op, dtype, lanes[r][l], lanes[r][l + half], 0);
    w->values[first + r] = lanes[r][0];
  }
}

/* Evaluates a launch at every point of its output space, in C order. */
static void evaluate_all(const work *w) {
  const gpupy_program *program = w->launch->program;
  uint32_t last = program->rank - 1, first = 0, count = 0;
  size_t point[GPUPY_RANK] = {0}, shape[GPUPY_RANK] = {0};
  memcpy(shape, w->launch->shape, program->rank * sizeof *shape);
  if (program->form == GPUPY_FORM_REDUCE) {
    shape[last] = (shape[last] + CHUNK - 1) / CHUNK;
    while (program->insts[first].op != GPUPY_OP_REDUCE)
      first++;
    while (program->insts[first + count].op == GPUPY_OP_REDUCE)
      count++;
  }
  while (point[0] < shape[0]) {
    if (count > 0)
      reduce(w, point, first, count);
    evaluate(w, point, first + count, program->inst_count);
    uint32_t axis = last;
    point[axis]++;
    while (axis > 0 && point[axis] == shape[axis]) {
      point[axis] = 0;
      point[--axis]++;
    }
  }
}

/* Finds the blocks of these handles, or makes them of the host memory at these positions, in
 * `pieces`. */
static int32_t find_all(const driver *self, const gpupy_launch *launch, const uint64_t *handles,
                        const uint8_t *dtypes, uint32_t count, block **blocks, block *pieces,
                        gpupy_error *error) {
  bool in_memory = HAS(gpupy_launch, launch, memory_lens) && launch->memory_count > 0;
  for (uint32_t k = 0; k < count; k++) {
    uint64_t at = handles[k];
    if (!in_memory) {
      blocks[k] = find(self, at);
      if (!blocks[k])
        return fail(error, GPUPY_INVALID, "there is no such block", "block", at);
      continue;
    }
    if (at >= launch->memory_count)
      return fail(error, GPUPY_INVALID, "there is no such piece of memory", "position", at);
    uint64_t len = launch->memory_lens[at];
    if (len == 0 || len > self->longest)
      return fail(error, GPUPY_INVALID, "no piece of memory has this length", "len", len);
    pieces[k] = (block){.dtype = dtypes[k], .len = len, .data = launch->memory[at]};
    blocks[k] = &pieces[k];
  }
  return GPUPY_OK;
}

/* Lends the block of the only destination as a buffer, or takes it back. */
static int32_t lend(const driver *self, const gpupy_launch *launch, gpupy_evaluated *evaluated,
                    gpupy_error *error) {
  block *b = find(self, launch->dests[0]);
  if (!b)
    return fail(error, GPUPY_INVALID, "there is no such block", "block", launch->dests[0]);
  if (!self->shares)
    return fail(error, GPUPY_INVALID, "no context shares blocks", "block", b->handle);
  if (launch->lend_kind != GPUPY_LEND_BUFFER)
    return fail(error, GPUPY_UNSUPPORTED, "blocks are lent as buffers", "kind", launch->lend_kind);
  size_t bytes = b->len * size_of(b->dtype);
  if (launch->lend == 1) {
    if (b->lent)
      return fail(error, GPUPY_INVALID, "the block is lent already", "block", b->handle);
    b->lent = malloc(bytes);
    if (!b->lent)
      return fail(error, GPUPY_OUT_OF_MEMORY, "", "bytes", bytes);
    memcpy(b->lent, b->data, bytes);
    if (HAS(gpupy_evaluated, evaluated, lent_row)) {
      evaluated->lent_name = (uint64_t)(uintptr_t)b->lent;
      evaluated->lent_row = b->len;
    }
  } else {
    if (!b->lent || launch->lend_name != (uint64_t)(uintptr_t)b->lent)
      return fail(error, GPUPY_INVALID, "this was not lent", "name", launch->lend_name);
    if (launch->lend_writes)
      memcpy(b->data, b->lent, bytes);
    free(b->lent);
    b->lent = NULL;
  }
  evaluated->launches = 1;
  return GPUPY_OK;
}

static int32_t eval_ir(void *state, const gpupy_launch *launch, gpupy_evaluated *evaluated,
                       gpupy_error *error) {
  const gpupy_program *program = launch->program;
  if (HAS(gpupy_launch, launch, lend_name) && launch->lend)
    return lend(state, launch, evaluated, error);
  gpupy_check check = {.size = sizeof check};
  int32_t kind = check_ir(state, program, &check, error);
  if (kind == GPUPY_OK && !check.fits)
    kind = fail(error, GPUPY_REFUSED, "", "operations", check.resources[0]);
  if (kind != GPUPY_OK)
    return kind;
  uint32_t operands = program->operand_count, dests = program->dest_count;
  block **blocks = calloc((size_t)operands + dests, sizeof *blocks);
  block *pieces = calloc((size_t)operands + dests, sizeof *pieces);
  uint32_t *values = calloc(program->inst_count, sizeof *values);
  if (blocks && pieces && values) {
    kind = find_all(state, launch, launch->operands, program->operands, operands, blocks, pieces,
                    error);
    if (kind == GPUPY_OK)
      kind = find_all(state, launch, launch->dests, program->dests, dests, blocks + operands,
                      pieces + operands, error);
    if (kind == GPUPY_OK)
      evaluate_all(&(work){launch, blocks, blocks + operands, values});
  } else {
    kind = fail(error, GPUPY_OUT_OF_MEMORY, "", "instructions", program->inst_count);
  }
  free(blocks);
  free(pieces);
  free(values);
  evaluated->launches = 1;
  return kind;
}

/* ---- What is exported ---- */

static const gpupy_driver_table table = {
    .size = sizeof table,
    .abi_major = GPUPY_ABI_MAJOR,
    .abi_minor = GPUPY_ABI_MINOR,
    .name = "c_1_3",
    .init = init,
    .cleanup = cleanup,
    .get_method = get_method,
    .block_alloc = block_alloc,
    .block_free = block_free,
    .block_read = block_read,
    .block_write = block_write,
    .check_ir = check_ir,
    .eval_ir = eval_ir,
    .resource_get = resource_get,
    .resource_zero = resource_zero,
    .resource_add = resource_add,
    .resource_sub = resource_sub,
    .resource_check = resource_check,
};

const gpupy_driver_table *gpupy_driver(void) { return &table; }
