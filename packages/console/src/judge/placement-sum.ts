/**
 * Where copies are, from answers that each count a part of the chunks. Pure.
 *
 * Rule: counts add up; shares and skew are of the sum, and not the mean of shares.
 */
import type { Placement } from '../../../client/src/admin.ts'

type Node = Placement['nodes'][number]
type Zone = Placement['zones'][number]

export interface PlacementSum {
  readonly chunks: number
  readonly bytes: number
  readonly held: Placement['held']
  readonly owed: Placement['owed']
  readonly singleCopies: number
  readonly singleZones: number
  readonly nodes: readonly Node[]
  readonly zones: readonly Zone[]
  readonly skew: Placement['skew']
  /** Every chunk was counted. */
  readonly isWhole: boolean
}

/** Nodes and zones are those of the first answer; `pages` has at least one. */
export function sumOf(pages: readonly [Placement, ...Placement[]]): PlacementSum {
  const [first] = pages
  const last = pages.at(-1) ?? first
  const heldBytes = sum(pages, ({ held }) => held.bytes)
  const nodes = first.nodes.map((node): Node => {
    const all = pages.flatMap((page) => page.nodes.filter(({ nodeId }) => nodeId === node.nodeId))
    return { ...node, ...heldOf(all, heldBytes), owed: copiesOf(all.map(({ owed }) => owed)) }
  })
  const zones = first.zones.map((zone): Zone => {
    const all = pages.flatMap((page) => page.zones.filter((one) => one.zone === zone.zone))
    return { ...zone, ...heldOf(all, heldBytes) }
  })
  return {
    chunks: sum(pages, ({ chunks }) => chunks),
    bytes: sum(pages, ({ bytes }) => bytes),
    held: copiesOf(pages.map(({ held }) => held)),
    owed: copiesOf(pages.map(({ owed }) => owed)),
    singleCopies: sum(pages, ({ singleCopies }) => singleCopies),
    singleZones: sum(pages, ({ singleZones }) => singleZones),
    nodes,
    zones,
    skew: pages.length === 1 ? first.skew : skewOf(nodes),
    isWhole: !last.isTruncated,
  }
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0)

const copiesOf = (all: readonly Placement['held'][]): Placement['held'] => ({
  copies: sum(all, ({ copies }) => copies),
  bytes: sum(all, ({ bytes }) => bytes),
})

/** What one node or zone holds by all answers, and its share of the bytes. */
function heldOf(all: readonly Placement['held'][], bytesOfAll: number) {
  const held = copiesOf(all)
  return { ...held, bytesShare: bytesOfAll === 0 ? 0 : held.bytes / bytesOfAll }
}

/** Of nodes that take copies; null: nothing is held, or no node takes any. */
function skewOf(nodes: readonly Node[]): Placement['skew'] {
  const ratios = nodes
    .filter(({ weightShare }) => weightShare > 0)
    .map(({ nodeId, bytesShare, weightShare }) => ({ nodeId, ratio: bytesShare / weightShare }))
    .toSorted((one, other) => other.ratio - one.ratio)
  const [most] = ratios
  const least = ratios.at(-1)
  const isEmpty = nodes.every(({ bytes }) => bytes === 0)
  return most === undefined || least === undefined || isEmpty ? null : { most, least }
}
