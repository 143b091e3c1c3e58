/**
 * What backups promise, from the rows alone: what one under way may need stays, and one that has ended well has all of its cut.
 *
 * Owns: those two rules. Rule: the hold of a backup is judged by the confirmed time of the entry, as the entry decided it.
 */
import assert from 'node:assert/strict'
import type { Row } from '../../../src/state-machine/base/view.ts'
import { kindOf } from '../../../src/state-machine/base/row-key.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { unfinishedOperations } from '../../../src/state-machine/long-operations/operations.ts'
import type { LongOperation } from '../../../src/state-machine/long-operations/records.ts'
import type { MapWorld } from '../../state-machine/map-world.ts'
import { nameOf } from './backup-driver.ts'
import type { BackupStore } from './backup-store.ts'

export class BackupJudge {
  readonly #store: BackupStore
  /** Of the backup that is under way: chunks that a cut of it may name, by key. */
  readonly #needed = new Map<string, string>()
  #operationId: string | null = null
  readonly counts = { backups: 0, outlived: 0, prunes: 0 }

  constructor(store: BackupStore) {
    this.#store = store
  }

  /** Throws where a backup ends well and its target has not all of its cut. */
  took(command: Command, reply: Reply): void {
    if (command.type !== 'setOperationStatus' || !reply.ok) return
    const { kind, status, operationId } = reply.value as LongOperation
    if (kind === 'backup' && status === 'failed') this.counts.outlived += 1
    if (kind === 'backupPrune' && status === 'succeeded') this.counts.prunes += 1
    if (kind !== 'backup' || status !== 'succeeded') return
    this.counts.backups += 1
    const manifest = this.#store.manifests.get(operationId)
    // The answer may come twice, and a prune between.
    if (manifest === undefined) return
    assert.deepEqual(this.#store.missing(manifest), [], `backup ${operationId} has not all chunks of its cut`)
  }

  /** After each batch. Throws where a chunk went that a cut may name. */
  settled(world: MapWorld): void {
    const [backup] = unfinishedOperations(world).filter(({ kind }) => kind === 'backup')
    if (backup?.operationId !== this.#operationId) this.#needed.clear()
    this.#operationId = backup?.operationId ?? null
    if (backup === undefined) return
    const isHeld = (backup.backup?.heldUntil ?? 0) > world.time
    if (isHeld)
      for (const [key, name] of this.#needed) {
        const row = world.rows.get(key) as ChunkRecord | undefined
        assert(row !== undefined, `chunk ${name} is collected while backup ${backup.operationId} holds it`)
        assert.equal(nameOf(row), name, `a chunk is sealed again while backup ${backup.operationId} holds it`)
      }
    for (const [key, row] of chunkRows(world)) if (row.references > 0) this.#needed.set(key, nameOf(row))
  }

  /** Throws where the newest backup does not restore. */
  finish(): void {
    for (const [operationId, cut] of this.#store.manifests)
      assert.deepEqual(
        this.#store.missing(cut),
        [],
        `backup ${operationId} has not all chunks of its cut at the end`,
      )
  }
}

function chunkRows({ rows }: MapWorld): readonly (readonly [string, ChunkRecord])[] {
  return [...rows].flatMap(([key, row]: [string, Row]) =>
    kindOf(key) === 'chunk' ? [[key, row as ChunkRecord] as const] : [],
  )
}
