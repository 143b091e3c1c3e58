/**
 * Restores a backup as the first state of a new cluster, on one of its founders. [docs/adr/0086-backups.md]
 *
 * Owns: the order: what the target has, this node's copies, the state, what is lost. Knows nothing of: the command line.
 * Rules: every founder makes the same state from the same backup; the rest is restored when a chunk is missing or damaged, and what is lost is named; damage in
 * the rows ends the restore, because no row can be trusted then.
 */
import {
  declareCurrent,
  foundersPlacement,
  foundersRecord,
  type Logger,
  recordFacts,
  RestoredNode,
  type RestoredOptions,
  StartError,
} from '../../../cluster/index.ts'
import { LevelStateMachine } from '../../store/apply/level-state-machine.ts'
import type { ChunkEntry } from '../format/chunk-list.ts'
import { type BackupReader, damageOf } from '../read/backup-reader.ts'
import { heldIn } from '../run/chunk-copier.ts'
import { type Lost, type LostChunk, lostVersions } from './lost-versions.ts'
import { RestoredRows } from './restored-rows.ts'
import { RestoredSource } from './restored-source.ts'

/** Each holds one chunk in memory. */
const AT_ONCE = 4

export interface RestoreParts {
  readonly reader: BackupReader
  readonly options: RestoredOptions
  readonly logger: Logger
  readonly onChunk?: (bytes: number) => void
}

export interface Restored {
  readonly backupId: string
  /** The cluster that made it, and the new one. */
  readonly from: string
  readonly clusterId: string
  readonly nodeId: string
  readonly index: number
  readonly rows: number
  /** That this node holds now. */
  readonly copies: number
  readonly copyBytes: number
  /** Names in the target: the target does not have them, or has other bytes. */
  readonly missing: readonly string[]
  readonly damaged: readonly string[]
  readonly lost: Lost
}

export async function restoreNode({ reader, options, logger, onChunk }: RestoreParts): Promise<Restored> {
  const { manifest } = reader
  if (manifest.clusterId === options.clusterId) throw sameCluster(manifest.clusterId)
  const node = await RestoredNode.begin(options, manifest.backupId, logger)
  try {
    const chunks = new Chunks(reader, options, node, onChunk)
    await chunks.fetch()
    const record = foundersRecord(
      await reader.record(),
      options.members.map(({ nodeId }) => nodeId),
    )
    await installState(node, { reader, options, logger }, chunks.gone, record)
    await declareCurrent(options.dataDir)
    const lost = await lostVersions(() => reader.rowBlocks(), chunks.lost)
    await node.finish(record)
    const { backupId, clusterId: from, index, rows } = manifest
    const { clusterId, nodeId } = options
    return { backupId, from, clusterId, nodeId, index, rows, ...chunks.counted, lost }
  } finally {
    await node.close()
  }
}

async function installState(
  node: RestoredNode,
  { reader, options, logger }: RestoreParts,
  missing: ReadonlySet<string>,
  record: Uint8Array,
): Promise<void> {
  const { members } = options
  const { index, time } = recordFacts(record)
  const rows = new RestoredRows({
    placement: (chunkId) => foundersPlacement(members, chunkId),
    missing,
    founders: members.map((member) => ({ ...member, dataAddress: null, adminAddress: null })),
    index,
    time,
  })
  const { checksum } = reader.manifest
  const source = new RestoredSource({ blocks: reader.rowBlocks(), checksum, record, rows })
  const stateMachine = new LevelStateMachine({
    dir: node.stateDir,
    logger,
    metadataKey: options.metadataKey ?? null,
  })
  await stateMachine.open()
  try {
    await stateMachine.install(source)
  } finally {
    await stateMachine.close()
  }
}

/** The copies of this node, and what is missing of all chunks. */
class Chunks {
  /** `<chunk id>.<checksum>` of chunks that no founder gets: the same on each of them. */
  readonly gone = new Set<string>()
  readonly lost: LostChunk[] = []
  readonly #reader: BackupReader
  readonly #options: RestoredOptions
  readonly #node: RestoredNode
  readonly #onChunk: (bytes: number) => void
  readonly #missing: string[] = []
  readonly #damaged: string[] = []
  #copies = 0
  #copyBytes = 0

  constructor(
    reader: BackupReader,
    options: RestoredOptions,
    node: RestoredNode,
    onChunk: (bytes: number) => void = () => undefined,
  ) {
    this.#reader = reader
    this.#options = options
    this.#node = node
    this.#onChunk = onChunk
  }

  get counted(): Pick<Restored, 'copies' | 'copyBytes' | 'missing' | 'damaged'> {
    return {
      copies: this.#copies,
      copyBytes: this.#copyBytes,
      missing: this.#missing,
      damaged: this.#damaged,
    }
  }

  async fetch(): Promise<void> {
    const { target, manifest } = this.#reader
    for (const file of manifest.chunkFiles) {
      const held = await heldIn(target, manifest.clusterId, file.shard)
      const left = [...(await this.#reader.chunksOf(file))]
      const work = async (): Promise<void> => {
        for (let entry = left.shift(); entry !== undefined; entry = left.shift())
          await this.#take(entry, held)
      }
      const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    }
  }

  async #take(entry: ChunkEntry, held: ReadonlyMap<string, number>): Promise<void> {
    const name = this.#reader.nameOf(entry)
    const { members, nodeId } = this.#options
    if (held.get(name) !== entry.sealedSize) {
      this.gone.add(`${entry.id}.${entry.checksum}`)
      return this.#miss(entry, held.has(name) ? 'damaged' : 'missing')
    }
    if (!foundersPlacement(members, entry.id).includes(nodeId)) return
    try {
      const sealed = await this.#reader.chunk(entry)
      await this.#node.writeCopy({ id: entry.id, birth: entry.birth }, sealed, entry.checksum)
      this.#copies++
      this.#copyBytes += sealed.length
      this.#onChunk(sealed.length)
    } catch (error) {
      const what = damageOf(error)
      if (what === null) throw error
      // Other founders read other chunks, so they do not know: the nodes that list it report it when they run.
      if (members.length === 1) this.gone.add(`${entry.id}.${entry.checksum}`)
      this.#miss(entry, what)
    }
  }

  #miss(entry: ChunkEntry, what: 'missing' | 'damaged'): void {
    const { id, tenantId } = entry
    ;(what === 'missing' ? this.#missing : this.#damaged).push(this.#reader.nameOf(entry))
    this.lost.push({ tenantId, id })
  }
}

function sameCluster(clusterId: string): StartError {
  return new StartError('same_cluster', `Cannot restore: cluster.id is "${clusterId}", that of the backup`, {
    hint: 'Give the restored cluster an id of its own in cluster.id: nodes of the old one must never take its nodes for their own.',
  })
}
