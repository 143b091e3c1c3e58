/**
 * A backup of very many small objects, made without uploading them: put into the state of a node that is stopped, in large entries, and written as the driver of
 * backups writes a cut.
 *
 * Owns: the objects. Rules: bodies are sealed with the keys of the tenant, so a restored cluster serves them; the record of the machine is that of the last entry, so the
 * log of a restored cluster continues behind it.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pino from 'pino'
import { decodeMachineRecord, encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { backupKeyContext, type BackupCut } from '../../src/backup/format/manifest.ts'
import { backupFolder, newAttempt, newBackupId } from '../../src/backup/format/names.ts'
import { endBackup } from '../../src/backup/run/backup-end.ts'
import { writeCut } from '../../src/backup/run/cut-writer.ts'
import { SealedFiles } from '../../src/backup/run/sealed-files.ts'
import { localTargets } from '../../src/backup/targets/open-target.ts'
import { VERSION } from '../../src/base/version.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { sealPlain } from '../../src/content/sealing.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { ringOf } from './disk-image.ts'
import { keyAt, putOf } from './listing-rows.ts'

const COMMANDS_PER_ENTRY = 1000
const OBJECTS_PER_REPORT = 100_000

export interface Seed {
  /** Of a node that is stopped. */
  readonly dataDir: string
  readonly masterKeyFile: string
  readonly clusterId: string
  readonly tenantId: string
  readonly bucket: string
  readonly objects: number
  /** Of each body. */
  readonly bytes: number
  /** Where the backup is written. */
  readonly folder: string
  readonly say: (text: string) => void
}

/** Of the object with this number. */
export const bodyOf = (n: number, bytes: number): Buffer =>
  Buffer.alloc(bytes, `${n} of the seeded objects, `)

export async function seedBackup(seed: Seed): Promise<void> {
  const store = openStore({ dir: join(seed.dataDir, 'state'), logger: pino({ level: 'silent' }) })
  const { record } = await store.stateMachine.open()
  if (record === null) throw new Error('The node has no state')
  try {
    await fill(store, record, seed)
    await backUp(store, seed)
  } finally {
    await store.stateMachine.close()
  }
}

async function fill({ stateMachine, reader }: Store, record: Uint8Array, seed: Seed): Promise<void> {
  const before = decodeMachineRecord(record)
  const tenant = reader.get(tenantKeys.tenant(seed.tenantId))
  if (tenant === undefined) throw new Error(`There is no tenant ${seed.tenantId}`)
  const { present } = await ringOf(tenant, seed.masterKeyFile)
  const putAt = (n: number): Command => put(n, tenant, present.keys, seed)
  for (let [n, index] = [0, before.appliedIndex + 1]; n < seed.objects; n += COMMANDS_PER_ENTRY, index++) {
    const count = Math.min(COMMANDS_PER_ENTRY, seed.objects - n)
    const time = Math.max(before.highTime, before.lastTime) + 1 + index
    const commands = Array.from({ length: count }, (_, at) => encodeCommand(putAt(n + at)))
    const times = { time, confirmedTime: time, orderTime: time }
    const applied = { ...before, appliedIndex: index, lastTime: time, highTime: time, sessions: [] }
    const batch = {
      entries: [{ index, ...times, featureLevel: before.featureLevel, commands }],
      record: encodeMachineRecord(applied),
    }
    const [replies = []] = await stateMachine.apply(batch)
    const refused = replies.map(decodeReply).find(({ ok }) => !ok)
    if (refused !== undefined && !refused.ok) throw new Error(refused.message)
    if ((n + count) % OBJECTS_PER_REPORT === 0) seed.say(`${n + count} objects seeded`)
  }
}

function put(
  n: number,
  { id: tenantId, masterKeyId }: TenantRecord,
  keys: Parameters<typeof sealPlain>[0],
  { bucket, bytes }: Seed,
): Command {
  const plain = bodyOf(n, bytes)
  const chunkId = keys.chunkIdOf(plain)
  const body = { kind: 'inline', chunkId, sealed: sealPlain(keys, chunkId, plain) } as const
  const named = putOf(n, { bucket, key: keyAt(n) })
  return { ...named, tenantId, masterKeyId, size: bytes, body } as Command
}

async function backUp({ stateMachine }: Store, { clusterId, masterKeyFile, folder }: Seed): Promise<void> {
  const masterKey = await MasterKey.load(masterKeyFile)
  const target = localTargets(`directory:${folder}`)
  const [attempt, backupKey] = [newAttempt(), randomBytes(32)]
  const cutAt = Date.now()
  const backupId = newBackupId(new Date(cutAt))
  const files = new SealedFiles({ target, folder: backupFolder(clusterId, backupId), backupKey })
  const check = (): void => undefined
  const cut = await stateMachine.snapshot()
  try {
    const { appliedIndex: index, appliedTerm: term, featureLevel } = decodeMachineRecord(cut.record)
    const facts: BackupCut = {
      format: 1,
      backupId,
      clusterId,
      version: VERSION,
      cutAt,
      index,
      term,
      featureLevel,
      attempt,
      ...(await writeCut({ cut, tenantId: null, files, attempt, check })),
      key: Buffer.from(masterKey.seal(backupKey, backupKeyContext(backupId))).toString('base64'),
    }
    const run = { startedAt: cutAt, finishedAt: cutAt, sentChunks: 0, sentBytes: 0 }
    await endBackup({ target, files, cut: facts, backupKey, check, run })
  } finally {
    await cut.release()
    await target.close()
  }
}
