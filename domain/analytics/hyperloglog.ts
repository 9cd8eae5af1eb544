/**
 * Counts unique visitors: exact below 1000, then HyperLogLog with 2^14 registers (standard error 0.8 %).
 * A sketch depends only on the set of visitors, not on order or repetition.
 */

/** Visitor id: a uniformly distributed 64-bit hash as 16 hexadecimal digits. */
export type Visitor = string;

/** Immutable; adding visitors returns a new sketch. */
export type Sketch = Exact | Estimated;

interface Exact {
  readonly exact: ReadonlySet<Visitor>;
}

interface Estimated {
  /** Rank per register: longest run of leading zeros so far, plus one. */
  readonly registers: Uint8Array;
}

/** Number of visitors from which counts are estimated. */
const ESTIMATED_FROM = 1000;
const INDEX_BITS = 14;
export const REGISTERS = 2 ** INDEX_BITS;
const RANK_BITS = 64 - INDEX_BITS;
/** Bits of the first 32 that are not the register index. */
const REST_BITS = 32 - INDEX_BITS;

export const emptySketch: Sketch = { exact: new Set() };

/** Whether adding the visitor would not change the sketch; they may have been counted before. */
export const isCounted = (sketch: Sketch, visitor: Visitor): boolean => {
  if ('exact' in sketch) return sketch.exact.has(visitor);
  const { index, rank } = registerOf(visitor);
  return sketch.registers[index]! >= rank;
};

export function addVisitors(sketch: Sketch, visitors: Iterable<Visitor>): Sketch {
  if ('exact' in sketch) {
    const exact = new Set(sketch.exact);
    for (const visitor of visitors) exact.add(visitor);
    return exact.size < ESTIMATED_FROM ? { exact } : raiseRegisters(new Uint8Array(REGISTERS), exact);
  }
  return raiseRegisters(sketch.registers.slice(), visitors);
}

/** Number of visitors, exact or estimated. */
export const countUniques = (sketch: Sketch): number =>
  'exact' in sketch ? sketch.exact.size : Math.round(estimate(sketch.registers));

/** Modifies and returns the given registers. */
function raiseRegisters(registers: Uint8Array, visitors: Iterable<Visitor>): Estimated {
  for (const visitor of visitors) {
    const { index, rank } = registerOf(visitor);
    if (registers[index]! < rank) registers[index] = rank;
  }
  return { registers };
}

/** Splits a visitor id: the first 14 bits select a register; the rank is the position of the first 1 in the other 50. */
function registerOf(visitor: Visitor): { readonly index: number; readonly rank: number } {
  const high = Number.parseInt(visitor.slice(0, 8), 16);
  const rest = (high << INDEX_BITS) >>> 0;
  const index = high >>> REST_BITS;
  if (rest !== 0) return { index, rank: Math.clz32(rest) + 1 };
  const low = Number.parseInt(visitor.slice(8, 16), 16);
  return { index, rank: REST_BITS + Math.clz32(low) + 1 };
}

/**
 * The improved raw estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017):
 * unbiased over the whole range, without tables or a switch between estimators.
 */
function estimate(registers: Uint8Array): number {
  const rankCounts = new Array<number>(RANK_BITS + 2).fill(0);
  for (const rank of registers) rankCounts[rank]!++;
  let sum = REGISTERS * tau(1 - rankCounts[RANK_BITS + 1]! / REGISTERS);
  for (let rank = RANK_BITS; rank >= 1; rank--) sum = (sum + rankCounts[rank]!) / 2;
  sum += REGISTERS * sigma(rankCounts[0]! / REGISTERS);
  return REGISTERS ** 2 / (2 * Math.LN2 * sum);
}

/** x + Σ x^(2^k) 2^(k-1): correction for untouched registers. */
function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let [power, weight, sum, previous] = [share, 1, share, -1];
  while (sum !== previous) {
    previous = sum;
    power *= power;
    sum += power * weight;
    weight *= 2;
  }
  return sum;
}

/** (1 - x - Σ (1 - x^(2^-k))^2 2^-k) / 3: correction for saturated registers. */
function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let [root, weight, sum, previous] = [share, 1, 1 - share, -1];
  while (sum !== previous) {
    previous = sum;
    root = Math.sqrt(root);
    weight /= 2;
    sum -= (1 - root) ** 2 * weight;
  }
  return sum / 3;
}
