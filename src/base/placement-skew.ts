/**
 * How far nodes are from the share of bytes that their weights give them. Pure.
 *
 * Rule: a node without a weight has no share; it is in no skew, however much it still holds.
 */
export interface WeighedBytes {
  readonly nodeId: string
  /** Relative share of new copies. */
  readonly weight: number
  readonly bytes: number
}

export interface NodeSkew {
  readonly nodeId: string
  /** Bytes held divided by the share of its weight: 1 is exact, 2 is twice as much. */
  readonly ratio: number
}

export interface PlacementSkew {
  readonly most: NodeSkew
  readonly least: NodeSkew
}

/** Null: nothing is held, or no node has a weight. Of equals the first by name. */
export function skewOf(nodes: readonly WeighedBytes[]): PlacementSkew | null {
  const weighed = nodes.filter(({ weight }) => weight > 0)
  const bytes = sum(weighed.map((node) => node.bytes))
  const weights = sum(weighed.map(({ weight }) => weight))
  if (bytes === 0) return null
  const ratios = weighed
    .map((node) => ({ nodeId: node.nodeId, ratio: (node.bytes * weights) / (bytes * node.weight) }))
    .sort((one, other) => one.ratio - other.ratio || (one.nodeId < other.nodeId ? -1 : 1))
  const [least] = ratios
  const most = ratios.find(({ ratio }) => ratio === ratios.at(-1)?.ratio)
  return least === undefined || most === undefined ? null : { most, least }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
