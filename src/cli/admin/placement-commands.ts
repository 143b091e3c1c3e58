/**
 * `holdfast cluster placement`: where the copies are, by node, zone and disk.
 *
 * Rule: an answer counts a bounded number of chunks, so the answers are added up here until no chunk is left.
 */
import { skewOf } from '../../base/placement-skew.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printJson, printLine, printTable, sizeText } from '../base/printing.ts'

export interface PlacementOptions extends AdminAccessOptions {
  readonly tenant?: string
  readonly bucket?: string
  /** Ask each node for the disks of its copies. */
  readonly byDisk?: boolean
  readonly json?: boolean
}

type Answer = AdminOperations['getClusterPlacement']['answer']
export type Placement = Omit<Answer, 'isTruncated' | 'nextContinuationToken'>
type NodeView = Placement['nodes'][number]
type ByDisk = NodeView['byDisk']
type ZoneView = Placement['zones'][number]
type Held = Placement['held']

export function showPlacement(options: PlacementOptions): Promise<number> {
  const { tenant, bucket, byDisk = false } = options
  const about = {
    ...(byDisk ? { byDisk } : {}),
    ...(tenant === undefined ? {} : { tenantId: tenant }),
    ...(bucket === undefined ? {} : { bucket }),
  }
  return askAdmin(options, async (client) => {
    let all: Placement | null = null
    for await (const page of pagesOf((from) =>
      client.call('getClusterPlacement', { query: { ...about, ...from } }),
    ))
      all = all === null ? withoutPage(page) : addPlacements(all, page)
    if (all === null) return EXIT.done
    if (options.json) printJson(all)
    else print(all)
    return EXIT.done
  })
}

function withoutPage(answer: Answer): Placement {
  const { chunks, bytes, held, owed, singleCopies, singleZones, nodes, zones, skew } = answer
  return { chunks, bytes, held, owed, singleCopies, singleZones, nodes, zones, skew }
}

/** Exported for its test. The disks are those of the later answer. */
export function addPlacements(one: Placement, other: Placement): Placement {
  const held = add(one.held, other.held)
  const nodes = merged(one.nodes, other.nodes, ({ nodeId }) => nodeId).map(([first, second]) => ({
    ...first,
    ...second,
    ...sharing(add(first, second), held.bytes),
    owed: add(first.owed, second?.owed),
    ...withDisks(first.byDisk, second?.byDisk),
  }))
  const zones = merged(one.zones, other.zones, ({ zone }) => zone).map(([first, second]) => ({
    ...first,
    ...sharing(add(first, second), held.bytes),
  }))
  return {
    chunks: one.chunks + other.chunks,
    bytes: one.bytes + other.bytes,
    held,
    owed: add(one.owed, other.owed),
    singleCopies: one.singleCopies + other.singleCopies,
    singleZones: one.singleZones + other.singleZones,
    nodes,
    zones,
    skew: skewOf(nodes),
  }
}

/** Null when one of the answers has none: the sum would be too small. The ratios are of bytes, so they are left to the reader of single answers. */
function withDisks(one: ByDisk, other: ByDisk): Pick<NodeView, 'byDisk'> {
  if (one === undefined) return {}
  if (one === null || other === null) return { byDisk: null }
  if (other === undefined) return { byDisk: one }
  const disks = merged(one.disks, other.disks, ({ diskId }) => diskId).map(([first, second]) => ({
    ...first,
    ...add(first, second),
    ratio: null,
  }))
  return { byDisk: { disks, nowhere: add(one.nowhere, other.nowhere) } }
}

function merged<T>(
  some: readonly T[],
  others: readonly T[],
  nameOf: (one: T) => string,
): readonly (readonly [T, T | undefined])[] {
  const second = new Map(others.map((one) => [nameOf(one), one]))
  const known = new Set(some.map(nameOf))
  const more = others.filter((one) => !known.has(nameOf(one)))
  return [
    ...some.map((one) => [one, second.get(nameOf(one))] as const),
    ...more.map((one) => [one, undefined] as const),
  ]
}

function add(one: Held, other: Held | undefined): Held {
  return { copies: one.copies + (other?.copies ?? 0), bytes: one.bytes + (other?.bytes ?? 0) }
}

function sharing(held: Held, whole: number): Held & { readonly bytesShare: number } {
  return { ...held, bytesShare: whole === 0 ? 0 : held.bytes / whole }
}

function print({ nodes, zones, skew, ...sums }: Placement): void {
  printLine(
    `${sums.chunks} chunks of ${sizeText(sums.bytes)} in ${sums.held.copies} copies of ${sizeText(sums.held.bytes)}; ${sums.owed.copies} copies of ${sizeText(sums.owed.bytes)} are still to be made`,
  )
  if (sums.singleCopies > 0) printLine(`${sums.singleCopies} chunks have one copy`)
  if (sums.singleZones > 0) printLine(`${sums.singleZones} chunks have all copies in one zone`)
  if (skew !== null)
    printLine(
      `for its weight ${skew.most.nodeId} holds most (${skew.most.ratio.toFixed(2)}) and ${skew.least.nodeId} least (${skew.least.ratio.toFixed(2)})`,
    )
  printLine('')
  printTable([
    ['NODE', 'ZONE', 'WEIGHT', 'COPIES', 'BYTES', 'SHARE', 'TO MAKE', 'DISKS'],
    ...nodes.map(nodeCells),
  ])
  printLine('')
  printTable([['ZONE', 'WEIGHT', 'COPIES', 'BYTES', 'SHARE'], ...zones.map(zoneCells)])
  const disks = nodes.flatMap(diskRows)
  if (disks.length === 0) return
  printLine('')
  printTable([['NODE', 'DISK', 'COPIES', 'BYTES', 'SHARE'], ...disks])
}

function diskRows({ nodeId, bytes, byDisk }: NodeView): string[][] {
  if (byDisk === undefined) return []
  if (byDisk === null) return [[nodeId, 'one disk, or no answer', '-', '-', '-']]
  const rows = byDisk.disks.map((disk) => [nodeId, printable(disk.directory), ...heldCells(disk, bytes)])
  const { nowhere } = byDisk
  return nowhere.copies === 0 ? rows : [...rows, [nodeId, 'ON NO DISK', ...heldCells(nowhere, bytes)]]
}

function heldCells(held: Held, whole: number): string[] {
  return [String(held.copies), sizeText(held.bytes), percent(whole === 0 ? 0 : held.bytes / whole)]
}

function nodeCells({ nodeId, zone, weight, weightShare, copies, bytes, bytesShare, owed, disks }: NodeView) {
  return [
    nodeId,
    zone ?? 'NO MEMBER',
    `${weight} (${percent(weightShare)})`,
    String(copies),
    sizeText(bytes),
    percent(bytesShare),
    owed.copies === 0 ? '-' : `${owed.copies} of ${sizeText(owed.bytes)}`,
    disks === null ? 'no answer' : disks.map(diskText).join('; '),
  ]
}

function zoneCells({ zone, weightShare, copies, bytes, bytesShare }: ZoneView): string[] {
  return [zone, percent(weightShare), String(copies), sizeText(bytes), percent(bytesShare)]
}

const OUT: readonly string[] = ['absent', 'foreign', 'failed']

function diskText(disk: NonNullable<NodeView['disks']>[number]): string {
  const name = disk.directory === null ? '' : `${printable(disk.directory)} `
  if (OUT.includes(disk.status)) return `${name}${disk.status.toUpperCase()}`
  const room = `${sizeText(disk.freeBytes)} of ${sizeText(disk.totalBytes)} free`
  const is = `${disk.status === 'serving' ? '' : `, ${disk.status}`}${disk.isSuspect ? ', SUSPECT' : ''}`
  return `${name}${disk.level}, ${room}${is}`
}

const percent = (share: number): string => `${Math.round(share * 100)}%`
