/**
 * The route of placement: where the bytes of the cluster, a tenant or a bucket are. No rules here.
 */
import Type, { type Static } from 'typebox'
import type { NodeRepair } from '../../../cluster/index.ts'
import { skewOf } from '../../base/placement-skew.ts'
import {
  BY_DISK_CHUNKS_MAX,
  getClusterPlacement,
  type PlacementPart,
} from '../../operations/placement/get-cluster-placement.ts'
import type { DiskHeld, NodeDisks } from '../../operations/placement/disk-tally.ts'
import { PLACEMENT_CHUNKS_MAX } from '../../operations/placement/subject.ts'
import type { NodePlacement } from '../../operations/placement/placement-tally.ts'
import { adminRoute, type Answer } from '../route.ts'
import { diskSuggestion, DiskLevelView, DiskStatusView, DOUBT } from './disk-view.ts'
import { CONTINUATION_TOKEN, orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const Share = Type.Number({ minimum: 0, maximum: 1 })
const HELD = { copies: Count, bytes: Count }
const Held = Type.Object(HELD)

const DiskView = Type.Object(
  {
    directory: orNull(Type.String({ description: 'null: the node has one disk, in its data directory' })),
    status: DiskStatusView,
    level: DiskLevelView,
    totalBytes: Count,
    freeBytes: Count,
    isSuspect: Type.Boolean({ description: 'It failed, or fails repeatedly' }),
    diskId: Type.Optional(Type.String({ description: 'Of a node with several' })),
    doubt: Type.Optional(DOUBT),
    suggestion: Type.Optional(Type.String({ description: 'What to do. Absent: nothing' })),
  },
  { additionalProperties: false },
)

const DiskHeldView = Type.Object(
  {
    diskId: Type.String(),
    directory: Type.String(),
    ...HELD,
    ratio: orNull(
      Type.Number({
        minimum: 0,
        description:
          'Share of the bytes of its node divided by its share of the space: 1 is exact. null: nothing is held, or its size is not known',
      }),
    ),
  },
  { additionalProperties: false },
)

const NodeView = Type.Object(
  {
    nodeId: Type.String(),
    zone: orNull(Type.String({ description: 'null: it is no member any more' })),
    weight: Type.Number({ minimum: 0, description: 'Relative share of new copies; 0 while it takes none' }),
    weightShare: Share,
    ...HELD,
    bytesShare: Share,
    owed: Held,
    disks: orNull(
      Type.Array(DiskView, {
        description: 'As they are now, whatever the query asks for; null: the node did not answer in time',
      }),
    ),
    byDisk: Type.Optional(
      orNull(
        Type.Object(
          { disks: Type.Array(DiskHeldView), nowhere: Held },
          {
            description:
              'With byDisk: where the counted copies are; nowhere: found on no disk. null: the node has one disk, or did not answer',
          },
        ),
      ),
    ),
  },
  { additionalProperties: false },
)
const ZoneView = Type.Object({ zone: Type.String(), weightShare: Share, ...HELD, bytesShare: Share })
const NodeSkewView = Type.Object({
  nodeId: Type.String(),
  ratio: Type.Number({
    minimum: 0,
    description: 'Share of the bytes divided by share of the weights: 1 is exact, 2 is twice as much',
  }),
})

export const PlacementView = Type.Object(
  {
    chunks: Type.Integer({ minimum: 0, description: 'Counted in this answer' }),
    bytes: Type.Integer({ minimum: 0, description: 'Sealed bytes of these chunks, each chunk once' }),
    held: Held,
    owed: Held,
    singleCopies: Type.Integer({ minimum: 0, description: 'Chunks with one copy' }),
    singleZones: Type.Integer({
      minimum: 0,
      description: 'Chunks whose copies are all in one zone, although members are in several',
    }),
    nodes: Type.Array(NodeView),
    zones: Type.Array(ZoneView),
    skew: orNull(
      Type.Object(
        { most: NodeSkewView, least: NodeSkewView },
        {
          description:
            'null: nothing is held. Copies of one chunk are on different nodes and zones before weights count',
        },
      ),
    ),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

const PlacementQuery = Type.Object(
  {
    tenantId: Type.Optional(Type.String({ description: 'Only the chunks of this tenant' })),
    bucket: Type.Optional(
      Type.String({
        description:
          'Only the chunks of this bucket, with tenantId. A chunk that several objects share may count once for each of them',
      }),
    ),
    byDisk: Type.Optional(
      Type.Boolean({
        description: `Ask each node on which of its disks the copies are; an answer counts at most ${BY_DISK_CHUNKS_MAX} chunks then`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ description: `Chunks to count: 1 to ${PLACEMENT_CHUNKS_MAX}, the most if absent` }),
    ),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)

export const placementRoutes = [
  adminRoute(
    getClusterPlacement,
    {
      method: 'GET',
      path: '/cluster/placement',
      summary:
        'Get where the copies of the cluster, a tenant or a bucket are, by node, zone and disk; pages add up to the whole',
      query: PlacementQuery,
      success: {
        status: 200,
        description: 'What the chunks of this page have where, and the disks of every node that answers',
        content: { type: 'application/json', schema: PlacementView },
      },
      example: {},
    },
    async (services, principal, { query }): Promise<Answer> => {
      return { kind: 'json', body: placementView(await getClusterPlacement(services, principal, query)) }
    },
  ),
]

export function placementView(part: PlacementPart): Static<typeof PlacementView> {
  const { sums, disks, byDisk, nextContinuationToken } = part
  const { nodes, ...facts } = sums
  const weights = sum(nodes.map(({ weight }) => weight))
  const shares = { weights, bytes: sums.held.bytes }
  const disksOf = new Map(disks.map((node) => [node.nodeId, disksView(node)]))
  return {
    ...facts,
    nodes: nodes.map((node) => {
      const own = disksOf.get(node.nodeId) ?? null
      const held = byDisk?.find(({ nodeId }) => nodeId === node.nodeId)
      return {
        ...nodeView(node, shares),
        disks: own,
        ...(byDisk === null ? {} : { byDisk: held === undefined ? null : byDiskView(held, own ?? []) }),
      }
    }),
    zones: zoneViews(nodes, shares),
    skew: skewOf(nodes.map(({ nodeId, weight, held }) => ({ nodeId, weight, bytes: held.bytes }))),
    ...pageEnd(nextContinuationToken),
  }
}

function byDiskView(
  { disks, nowhere }: NodeDisks,
  sizes: readonly Static<typeof DiskView>[],
): { readonly disks: Static<typeof DiskHeldView>[]; readonly nowhere: Static<typeof Held> } {
  const sizeOf = ({ diskId }: DiskHeld) => sizes.find((disk) => disk.diskId === diskId)?.totalBytes ?? 0
  const [bytes, space] = [sum(disks.map((disk) => disk.bytes)), sum(disks.map(sizeOf))]
  const ratioOf = (disk: DiskHeld) => {
    const size = sizeOf(disk)
    return bytes === 0 || size === 0 ? null : (disk.bytes * space) / (bytes * size)
  }
  return { disks: disks.map((disk) => ({ ...disk, ratio: ratioOf(disk) })), nowhere }
}

interface Whole {
  readonly weights: number
  readonly bytes: number
}

function nodeView({ nodeId, zone, weight, held, owed }: NodePlacement, { weights, bytes }: Whole) {
  const weightShare = shareOf(weight, weights)
  return { nodeId, zone, weight, weightShare, ...held, bytesShare: shareOf(held.bytes, bytes), owed }
}

function zoneViews(nodes: readonly NodePlacement[], whole: Whole): Static<typeof ZoneView>[] {
  const zones = [...new Set(nodes.flatMap(({ zone }) => (zone === null ? [] : [zone])))].sort()
  return zones.map((zone) => {
    const own = nodes.filter((node) => node.zone === zone)
    const bytes = sum(own.map(({ held }) => held.bytes))
    return {
      zone,
      weightShare: shareOf(sum(own.map(({ weight }) => weight)), whole.weights),
      copies: sum(own.map(({ held }) => held.copies)),
      bytes,
      bytesShare: shareOf(bytes, whole.bytes),
    }
  })
}

function disksView({ disk }: NodeRepair): Static<typeof DiskView>[] | null {
  if (disk === null) return null
  const { disks, level, totalBytes, freeBytes, isSuspect, doubt } = disk
  if (disks === undefined) {
    const whole = { level, totalBytes, freeBytes, isSuspect, ...(doubt === undefined ? {} : { doubt }) }
    return [{ directory: null, status: 'serving', ...whole }]
  }
  return disks.map((part) => {
    const suggestion = diskSuggestion(part)
    return {
      ...part,
      isSuspect: part.status === 'failed',
      ...(suggestion === null ? {} : { suggestion }),
    }
  })
}

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
