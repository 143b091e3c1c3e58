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
  const sum = (of: (page: Placement) => number): number => pages.reduce((all, page) => all + of(page), 0)
  const held = { copies: sum(({ held }) => held.copies), bytes: sum(({ held }) => held.bytes) }
  const nodes = first.nodes.map((node): Node => {
    const all = pages.flatMap((page) => page.nodes.filter(({ nodeId }) => nodeId === node.nodeId))
    const bytes = added(all, (one) => one.bytes)
    return {
      ...node,
      copies: added(all, (one) => one.copies),
      bytes,
      bytesShare: shareOf(bytes, held.bytes),
      owed: {
        copies: added(all, ({ owed }) => owed.copies),
        bytes: added(all, ({ owed }) => owed.bytes),
      },
    }
  })
  const zones = first.zones.map((zone): Zone => {
    const all = pages.flatMap((page) => page.zones.filter((one) => one.zone === zone.zone))
    const bytes = added(all, (one) => one.bytes)
    return { ...zone, copies: added(all, (one) => one.copies), bytes, bytesShare: shareOf(bytes, held.bytes) }
  })
  return {
    chunks: sum(({ chunks }) => chunks),
    bytes: sum(({ bytes }) => bytes),
    held,
    owed: { copies: sum(({ owed }) => owed.copies), bytes: sum(({ owed }) => owed.bytes) },
    singleCopies: sum(({ singleCopies }) => singleCopies),
    singleZones: sum(({ singleZones }) => singleZones),
    nodes,
    zones,
    skew: pages.length === 1 ? first.skew : skewOf(nodes),
    isWhole: !last.isTruncated,
  }
}

const added = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0)

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

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
