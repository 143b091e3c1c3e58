/**
 * A small backup with every kind of file, of a real store: chunks that open under the keys of their tenant, small bodies in rows.
 */
import { randomBytes } from 'node:crypto'
import { encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { tenantDataKey, tenantDedupKey } from '../../src/access/sealing-contexts.ts'
import { chunkName, newAttempt, backupFolder } from '../../src/backup/format/names.ts'
import { type BackupCut, backupKeyContext, encodeManifest } from '../../src/backup/format/manifest.ts'
import { endBackup } from '../../src/backup/run/backup-end.ts'
import { writeCut } from '../../src/backup/run/cut-writer.ts'
import { once, SealedFiles } from '../../src/backup/run/sealed-files.ts'
import {
  type BackupTarget,
  type TargetEntry,
  TargetMissing,
  type TargetRange,
} from '../../src/backup/targets/target.ts'
import { sealChunk } from '../../src/content/sealing.ts'
import { TenantKeys } from '../../src/content/tenant-keys.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { createTenant, fresh, OPEN_SESSION, put, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

export const ORIGIN = 'Whole-Cluster'
export const BACKUP_ID = '20261127t120000z-0123abcd'
const CHUNKS = 12
const SMALL = 20

export class MemoryTarget implements BackupTarget {
  readonly description = 'memory'
  readonly files = new Map<string, Buffer>()

  async put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = []
    for await (const piece of bytes) pieces.push(piece)
    this.files.set(name, Buffer.concat(pieces))
  }

  async *get(name: string, range?: TargetRange): AsyncIterable<Uint8Array> {
    const bytes = this.files.get(name)
    if (bytes === undefined) throw new TargetMissing(`${name} is not there`)
    yield range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length)
  }

  async head(name: string): Promise<number | undefined> {
    return this.files.get(name)?.length
  }

  async *list(prefix: string): AsyncIterable<TargetEntry> {
    for (const name of [...this.files.keys()].toSorted())
      if (name.startsWith(prefix)) yield { name, size: this.files.get(name)?.length ?? 0 }
  }

  async remove(name: string): Promise<void> {
    this.files.delete(name)
  }

  async close(): Promise<void> {}
}

/** Puts it into the target. */
export async function makeWholeBackup(t: Teardown, target: BackupTarget): Promise<void> {
  const world = await StoreWorld.open(t)
  const [dataKey, dedupKey] = [randomBytes(32), randomBytes(32)]
  const keys = TenantKeys.fromBytes(dataKey, dedupKey)
  const lock = { versioning: 'Unversioned', objectLockEnabled: false } as const
  await world.apply([
    {
      ...createTenant('acme'),
      dataKey: testMasterKey.seal(dataKey, tenantDataKey('acme')),
      dedupKey: testMasterKey.seal(dedupKey, tenantDedupKey('acme')),
    },
    { type: 'createBucket', tenantId: 'acme', name: 'photos', bucketsMax: 10, ...lock },
    OPEN_SESSION,
  ])
  for (let n = 0; n < SMALL; n++)
    await world.do(put(`small-${n}`, { kind: 'inline', chunkId: `small-${n}`, sealed: randomBytes(60) }, 44))
  for (let n = 0; n < CHUNKS; n++) {
    const plain = randomBytes(500 + n)
    const id = keys.chunkIdOf(plain)
    const { sealed, checksum } = sealChunk(keys, { id, plain }, 'none')
    await target.put(chunkName(ORIGIN, { id, checksum }), once(sealed), sealed.length)
    const sizes = { size: plain.length, sealedSize: sealed.length, checksum }
    await world.do(putChunks(`large-${n}`, [fresh(id, { birth: `birth-${n}`, ...sizes })]))
  }
  await writeBackup(world, target)
}

async function writeBackup(world: StoreWorld, target: BackupTarget): Promise<void> {
  const [attempt, backupKey] = [newAttempt(), randomBytes(32)]
  const files = new SealedFiles({ target, folder: backupFolder(ORIGIN, BACKUP_ID), backupKey })
  const check = (): void => undefined
  const snapshot = await world.store.stateMachine.snapshot()
  try {
    const cut = { ...snapshot, record: recordAt(world.index) }
    const facts: BackupCut = {
      format: 1,
      backupId: BACKUP_ID,
      clusterId: ORIGIN,
      version: '0',
      cutAt: 1,
      index: world.index,
      term: 1,
      featureLevel: FEATURE_LEVEL,
      attempt,
      ...(await writeCut({ cut, tenantId: null, files, attempt, check })),
      key: Buffer.from(testMasterKey.seal(backupKey, backupKeyContext(BACKUP_ID))).toString('base64'),
    }
    const text = encodeManifest(facts, backupKey)
    await target.put(`${backupFolder(ORIGIN, BACKUP_ID)}${attempt}/cut.json`, once(text), text.length)
    const run = { startedAt: 1, finishedAt: 2, sentChunks: CHUNKS, sentBytes: 1 }
    await endBackup({ target, files, cut: facts, backupKey, check, run })
  } finally {
    await snapshot.release()
  }
}

function recordAt(index: number): Uint8Array {
  const configuration = { voters: ['n1'], learners: [], outgoing: [] }
  const time = { lastTime: 1_700_000_000_000, withheldMs: 0, highTime: 1_700_000_000_000 }
  const level = { recoveryEpoch: 0, featureLevel: FEATURE_LEVEL }
  const place = { appliedIndex: index, appliedTerm: 1, configuration, configurationIndex: 0, sessions: [] }
  return encodeMachineRecord({ ...place, ...time, ...level })
}
