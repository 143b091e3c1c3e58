/**
 * The rows about copies in the terms of the machine below: its names in, commands out.
 *
 * Owns: the translation between rows and the CopyLedger port. Knows nothing of: how a copy is made or removed.
 * Rules: a task is shown only for the birth that the chunk's row names; every answer is of the state that this node has
 * applied, never of what another node knows.
 */
import { chunkKeys, chunkRanges } from '../../state-machine/chunks/keys.ts'
import {
  type BlobName,
  type BlobRef,
  type Cluster,
  Condition,
  type CopyLedger,
  type ReplicaTask,
} from '../../../cluster/index.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import type { Command } from '../../state-machine/commands.ts'
import type { CopyName } from '../../state-machine/chunks/commands.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../state-machine/base/batch-bound.ts'
import type { ChunkRecord, RepairRecord } from '../../state-machine/chunks/records.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import { rereplicationOf } from '../../state-machine/long-operations/rereplications.ts'
import { copyStatus } from '../../state-machine/chunks/copy-status.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { StateReader } from '../reads/state-reader.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import type { Propose } from '../../commands/propose.ts'
import { repairTasks } from '../reads/chunk-reads.ts'

/** Chunk rows read for one page of the copies of a node: the node may hold none of them. */
const ROWS_PER_PAGE = 512

type Listing = Extract<Command, { type: 'addReplica' | 'addReplicas' }>

/** `levels`: the known feature level of the state; below the level of the command for many copies, they are listed one by one. */
export function createCopyLedger(
  reader: StateReader,
  propose: Propose,
  levels: Pick<Cluster, 'reachesLevel'>,
): CopyLedger {
  return {
    pending: (target, limit) => pendingIn(reader, target, limit),
    async drops(holder, limit) {
      return (await reader.page(chunkRanges.dropsOf(holder), { limit })).items.map((drop) => ({
        id: drop.id as string,
        birth: drop.birth,
      }))
    },
    copyStatus: (name, holder) => copyStatus(reader, name, holder),
    find(name) {
      const making = reader.get(chunkKeys.making(name.birth, name.id as string))
      const chunk =
        making === undefined ? undefined : reader.get(chunkKeys.chunk(making.tenantId, name.id as string))
      return chunk === undefined || chunk.birth !== name.birth ? null : refOf(chunk)
    },
    async listed(holder, after, limit) {
      const { items, next } = await reader.page(chunkRanges.chunks(), {
        after: after ?? '',
        limit: Math.min(limit, ROWS_PER_PAGE),
      })
      return { refs: items.filter(({ replicas }) => replicas.includes(holder)).map(refOf), next }
    },
    async done(tasks) {
      const isKnown = await levels.reachesLevel(COMMAND_LEVELS.addReplicas, 0)
      for (const part of inParts(tasks)) {
        const commands = isKnown ? [listing(part)] : part.map(listingOfOne)
        for (const reply of await Promise.all(commands.map((command) => propose(command))))
          if (!reply.ok) throw new Error(`Cannot end replica tasks: ${reply.message}`)
      }
    },
    async dropped(holder, names) {
      for (const part of inParts(names)) {
        const plain = part.map(({ id, birth }: BlobName) => ({ id: id as string, birth }))
        await propose({ type: 'dropsDone', node: holder, names: plain })
      }
    },
    async lost(holder, refs, found) {
      const operation = found === 'inventory' ? newOperationId() : null
      for (const part of inParts(refs.filter(({ owner }) => owner !== undefined))) {
        const copies = part.map(copyOf)
        const reply = await propose({ type: 'dropReplicas', node: holder, copies, operation })
        if (!reply.ok) throw new Error(`Cannot strike off lost copies: ${reply.message}`)
      }
    },
    async inventoried(holder) {
      const recovery = rereplicationOf(reader, holder)
      if (recovery === undefined || recovery.cursor === ALL_PLANNED) return
      const { operationId, cursor: from } = recovery
      const counted = { cursor: ALL_PLANNED, phase: 'waiting for copies', counted: {} }
      const reply = await propose({ type: 'advanceOperation', operationId, from, ...counted })
      if (!reply.ok) throw new Error(`Cannot end the count of lost copies: ${reply.message}`)
    },
  }
}

function listing(tasks: readonly ReplicaTask[]): Listing {
  const copies = tasks.map(({ ref, permit }) => ({ ...copyOf(ref), permit }))
  return { type: 'addReplicas', node: tasks[0]?.target ?? '', copies }
}

function listingOfOne({ ref, target, permit }: ReplicaTask): Listing {
  return { type: 'addReplica', ...copyOf(ref), node: target, permit }
}

/** Called at any time, also while the state is being replaced: a state that cannot be read owes nothing. */
function pendingIn(reader: StateReader, target: string, limit: number): readonly ReplicaTask[] {
  try {
    return repairTasks(reader, target, limit).flatMap((repair) => taskFor(reader, repair))
  } catch (error) {
    if (error instanceof Condition) return []
    throw error
  }
}

function taskFor(reader: View, repair: RepairRecord): readonly ReplicaTask[] {
  const chunk = reader.get(chunkKeys.chunk(repair.tenantId, repair.chunkId))
  if (chunk === undefined || chunk.birth !== repair.birth) return []
  return [{ ref: refOf(chunk), target: repair.target, permit: repair.permit }]
}

/** The machine knows no chunks: it takes the id as the name of a blob. */
function refOf(chunk: ChunkRecord): BlobRef {
  const { id, birth, sealedSize: size, checksum, replicas, tenantId: owner } = chunk
  return { id: id as string, birth, size, checksum, replicas, owner }
}

function copyOf(ref: BlobRef): CopyName {
  return { tenantId: ownerOf(ref), chunkId: ref.id as string, birth: ref.birth }
}

function ownerOf({ id, owner }: BlobRef): string {
  if (owner === undefined) throw new Error(`Cannot report on blob "${id}": it came without its owner`)
  return owner
}

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let first = 0; first < items.length; first += ITEMS_PER_COMMAND_MAX)
    yield items.slice(first, first + ITEMS_PER_COMMAND_MAX)
}
