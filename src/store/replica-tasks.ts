/**
 * Repair rows as tasks for the repair engine, and finished tasks as commands.
 *
 * Owns: the translation between repair rows and the ReplicaTasks port. Knows nothing of: how a copy is made.
 * Rule: a task is shown only for the birth that the chunk's row names; that row is the permission to write the copy.
 */
import type { ReplicaTask, ReplicaTasks } from '../../cluster/index.ts'
import type { RepairRecord } from '../state-machine/records.ts'
import type { LevelStateReader } from './level-state-reader.ts'
import type { Propose } from './propose.ts'

export function createReplicaTasks(
  reader: Pick<LevelStateReader, 'repairs' | 'repair' | 'chunk'>,
  propose: Propose,
): ReplicaTasks {
  return {
    async lost({ id, birth, owner }, node) {
      if (owner === undefined) return
      const chunkId: string = id
      // A refusal is right: the row has moved on, or this is the last copy that anybody knows of.
      await propose({ type: 'dropReplica', tenantId: owner, chunkId, birth, node })
    },
    pending(target, limit) {
      return reader.repairs(target, limit).flatMap((repair) => taskFor(reader, repair))
    },
    async done({ ref, target }) {
      const blobId: string = ref.id
      const repair = reader.repair(target, ref.birth, blobId)
      // Ended already, by an earlier call whose answer was lost.
      if (repair === undefined) return
      const { tenantId, chunkId, birth } = repair
      const reply = await propose({ type: 'addReplica', tenantId, chunkId, birth, node: target })
      if (!reply.ok) throw new Error(`Cannot end replica task: ${reply.message}`)
    },
  }
}

function taskFor(reader: Pick<LevelStateReader, 'chunk'>, repair: RepairRecord): readonly ReplicaTask[] {
  const chunk = reader.chunk(repair.tenantId, repair.chunkId)
  if (chunk === undefined || chunk.birth !== repair.birth) return []
  const { birth, sealedSize: size, checksum, replicas, tenantId: owner } = chunk
  // The machine knows no chunks: to it the id is the name of a blob.
  const id: string = chunk.id
  return [{ ref: { id, birth, size, checksum, replicas, owner }, target: repair.target }]
}
