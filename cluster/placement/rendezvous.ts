/**
 * Where the copies of a blob should be: weighted rendezvous hashing with zone spread.
 *
 * Owns: the order of members for a blob. Knows nothing of: which members are up, where copies are (the committed row has that).
 * Rule: the answer depends only on (blob id, set of members): not on the order of members, not on the engine. So only
 * integer mixing and the four IEEE-exact operations are used; Math.log may differ between engines in the last bit.
 */
export interface PlacementMember {
  readonly nodeId: string
  readonly zone: string
  /** Relative share of blobs. A member with weight 0 takes none. */
  readonly weight: number
  /** The default is `willing`. */
  readonly status?: PlacementStatus
}

/**
 * Preference for a member. `sparing`: it takes a copy when no willing member of an equally good zone can, so that the spread
 * over zones counts more than sparing a disk. `unfit`: it comes after all other members, regardless of its zone.
 */
export type PlacementStatus = 'willing' | 'sparing' | 'unfit'

export interface PlacementRequest {
  readonly blobId: string
  readonly members: readonly PlacementMember[]
  readonly copies: number
}

interface Candidate extends PlacementMember {
  readonly cost: number
  readonly status: PlacementStatus
}

/** Two 32-bit lanes of one hash state. */
interface Lanes {
  readonly a: number
  readonly b: number
}

/** Not a code unit of any id, so that ("ab", "c") and ("a", "bc") have different hashes. */
const SEPARATOR = 0xffff
/** More than the place of any fit member. */
const UNFIT = 2 ** 32

/**
 * At most `copies` distinct nodes, best first; fewer when there are fewer members with a weight.
 * The answer for n copies is a prefix of the answer for n + 1: the nodes after the requested copies are the hand-off order.
 * No zone gets a second copy while another zone that could take one has none (and so on for the third), unless all members
 * left there are unfit.
 */
export function placeReplicas(request: PlacementRequest): string[] {
  const left = candidates(request)
  const copiesInZone = new Map<string, number>()
  const chosen: string[] = []
  while (chosen.length < request.copies && left.length > 0) {
    const [next] = left.splice(indexOfNext(left, copiesInZone), 1)
    if (next === undefined) throw new Error('Cannot place a blob: the chosen candidate is gone')
    copiesInZone.set(next.zone, (copiesInZone.get(next.zone) ?? 0) + 1)
    chosen.push(next.nodeId)
  }
  return chosen
}

function candidates(request: PlacementRequest): Candidate[] {
  const seed = absorb({ a: 0x811c9dc5, b: 0x9747b28c }, request.blobId)
  const found: Candidate[] = []
  for (const { nodeId, zone, weight, status = 'willing' } of request.members) {
    if (!(weight >= 0)) throw new RangeError(`Cannot place a blob: weight of "${nodeId}" is ${weight}`)
    const cost = exponential(absorb(seed, nodeId)) / weight
    if (weight > 0) found.push({ nodeId, zone, weight, status, cost })
  }
  return found.sort(byCostThenId)
}

/** The node id decides a tie, which keeps the order of the caller's list out of the answer. */
function byCostThenId(one: Candidate, other: Candidate): number {
  if (one.cost !== other.cost) return one.cost - other.cost
  return one.nodeId < other.nodeId ? -1 : 1
}

/** Prefers fit members, then zones with the fewest copies, then willing members, then the lowest cost. `left` is sorted by cost. */
function indexOfNext(left: readonly Candidate[], copiesInZone: ReadonlyMap<string, number>): number {
  let best = 0
  let lowest = Infinity
  left.forEach(({ zone, status }, index) => {
    const copies = copiesInZone.get(zone) ?? 0
    const place = (status === 'unfit' ? UNFIT : 0) + 2 * copies + (status === 'sparing' ? 1 : 0)
    if (place >= lowest) return
    lowest = place
    best = index
  })
  return best
}

// ---------------------------------------------------------------------------------------------
// Hash and logarithm

function absorb(from: Lanes, text: string): Lanes {
  let a = from.a
  let b = from.b
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : SEPARATOR
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul((b << 5) ^ (b >>> 27) ^ unit, 0x5bd1e995)
  }
  return { a, b }
}

/** Final avalanche of a 32-bit lane (the constants of MurmurHash3's finalizer). */
function avalanche(lane: number): number {
  let mixed = lane ^ (lane >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * -ln(u) for the hash read as a number u in (0, 1): an exponential variable. The smallest of -ln(u) / weight belongs
 * to a member with probability weight / sum of weights, so the shares are exact.
 */
function exponential(lanes: Lanes): number {
  const high = avalanche(lanes.a ^ avalanche(lanes.b))
  const low = avalanche(lanes.b + high)
  // 52 bits and a half: exact in a double, never 0 and never 1.
  return -naturalLog((high * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52)
}

const LN_2 = 0.6931471805599453

/** ln(u) for 0 < u < 1 by ln(m) = 2 artanh((m - 1) / (m + 1)), m in [1, 2). The error is below 1e-12, and equal on every engine. */
function naturalLog(u: number): number {
  let mantissa = u
  let exponent = 0
  for (; mantissa < 1; mantissa *= 2) exponent--
  const ratio = (mantissa - 1) / (mantissa + 1)
  const square = ratio * ratio
  let sum = 0
  // |ratio| <= 1/3, so the 13th term is below 3e-14.
  for (let odd = 25; odd >= 1; odd -= 2) sum = sum * square + 1 / odd
  return exponent * LN_2 + 2 * ratio * sum
}
