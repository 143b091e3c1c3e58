/**
 * Files of a backup with random damage, one at a time: each is found and named, or makes no difference; no other error comes of it, and a restore either begins with
 * exactly the rows of the backup or refuses. `HOLDFAST_PROOFS=whole` tries more. [docs/adr/0086-backups.md]
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BackupReader } from '../../src/backup/read/backup-reader.ts'
import { verifyBackup, type Verified } from '../../src/backup/read/verification.ts'
import { restoreNode, type Restored } from '../../src/backup/restore/restore.ts'
import {
  type BackupTarget,
  TargetCorrupt,
  type TargetEntry,
  TargetError,
  TargetMissing,
} from '../../src/backup/targets/target.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import { Random } from '../programs/simulator/random.ts'
import { BACKUP_ID, makeWholeBackup, MemoryTarget, ORIGIN } from './whole-backup.ts'

const DAMAGES_OF_EACH_FILE = process.env['HOLDFAST_PROOFS'] === 'whole' ? 200 : 4
const RESTORES = process.env['HOLDFAST_PROOFS'] === 'whole' ? 300 : 6
const LISTED = { cluster: ORIGIN.toLowerCase(), backupId: BACKUP_ID }
const MEMBER = { zone: 'z1', weight: 1, peerAddress: 'h:1', dataAddress: null, adminAddress: null }

type Damage = (random: Random, bytes: Buffer) => Buffer
const DAMAGES: Readonly<Record<string, Damage>> = {
  'a byte': (random, bytes) => {
    const changed = Buffer.from(bytes)
    const at = random.below(bytes.length)
    changed[at] = (changed[at] ?? 0) ^ (1 + random.below(255))
    return changed
  },
  'a stretch': (random, bytes) => {
    const changed = Buffer.from(bytes)
    const at = random.below(bytes.length)
    for (let n = at; n < Math.min(bytes.length, at + 64); n++) changed[n] = random.below(256)
    return changed
  },
  'cut off': (random, bytes) => bytes.subarray(0, random.below(bytes.length)),
  longer: (random, bytes) => Buffer.concat([bytes, Buffer.alloc(1 + random.below(300), random.below(256))]),
  'turned around': (_, bytes) => Buffer.from(bytes.toReversed()),
  zeros: (_, bytes) => Buffer.alloc(bytes.length),
}

function kindOf(file: string): string {
  if (file.startsWith('chunks/')) return 'chunk'
  return /(manifest\.json|cut\.json|record|state|chunks)/.exec(file.split('/').at(-1) ?? '')?.[1] ?? 'unknown'
}

async function verified(target: BackupTarget): Promise<Verified | TargetError> {
  try {
    return await verifyBackup(await BackupReader.open(target, LISTED, testMasterKey), testMasterKey)
  } catch (error) {
    if (error instanceof TargetError) return error
    throw error
  }
}

async function restored(target: BackupTarget, dataDir: string): Promise<Restored | TargetError> {
  try {
    const reader = await BackupReader.open(target, LISTED, testMasterKey)
    const options = {
      clusterId: randomUUID(),
      nodeId: 'n1',
      dataDir,
      blobDirectories: [],
      members: [{ ...MEMBER, nodeId: 'n1' }],
      fingerprint: testMasterKey.fingerprint,
    }
    return await restoreNode({ reader, options, logger: SILENT })
  } catch (error) {
    if (error instanceof TargetError) return error
    throw error
  }
}

/** Whether what was said names the file. */
function isNamed(said: Verified | TargetError, file: string): boolean {
  const name = file.split('/').at(-1) ?? file
  if (said instanceof TargetError) return said.message.includes(name)
  return said.damages.some((damage) => damage.name.includes(name) || damage.why.includes(name))
}

const saidBy = (said: Verified | TargetError): string =>
  said instanceof TargetError ? said.message : JSON.stringify(said)

class World {
  readonly target: MemoryTarget
  readonly files: readonly string[]

  private constructor(target: MemoryTarget) {
    this.target = target
    this.files = [...target.files.keys()].toSorted()
  }

  static async make(t: Parameters<typeof makeWholeBackup>[0]): Promise<World> {
    const target = new MemoryTarget()
    await makeWholeBackup(t, target)
    return new World(target)
  }

  /** While `work` runs, the file has other bytes. */
  async damaged<T>(file: string, bytes: Buffer, work: () => Promise<T>): Promise<T> {
    const before = this.bytesOf(file)
    this.target.files.set(file, bytes)
    try {
      return await work()
    } finally {
      this.target.files.set(file, before)
    }
  }

  bytesOf(file: string): Buffer {
    return this.target.files.get(file) ?? Buffer.alloc(0)
  }
}

t.test('random damage', async (t) => {
  const world = await World.make(t)
  const kinds = new Set(world.files.map(kindOf))
  t.same([...kinds].toSorted(), ['chunk', 'chunks', 'cut.json', 'manifest.json', 'record', 'state'])
  t.match(await verified(world.target), { damageCount: 0, chunks: 12 })

  t.test('ends in a restore of exactly these rows, or in none', async (t) => {
    const random = new Random(2, 'restore')
    const whole = await restored(world.target, join(t.testdir(), 'whole'))
    if (whole instanceof TargetError) throw whole
    t.match(whole, { missing: [], damaged: [], lost: { versions: 0 } })
    for (let n = 0; n < RESTORES; n++) {
      const file = random.pick(world.files)
      const [what, damage] = random.pick(Object.entries(DAMAGES))
      const bytes = damage(random, world.bytesOf(file))
      if (bytes.equals(world.bytesOf(file))) continue
      const dataDir = join(t.testdir(), `n${n}`)
      const found = await world.damaged(file, bytes, () => restored(world.target, dataDir))
      const which = `${file} ${what}`
      if (found instanceof TargetError) {
        t.ok(
          ['manifest.json', 'record', 'state', 'chunks'].includes(kindOf(file)),
          `${which}: ${found.message}`,
        )
        t.notOk(existsSync(join(dataDir, 'identity.json')), `${which}: no node starts there`)
      } else {
        t.equal(found.rows, whole.rows, which)
        const isChunk = kindOf(file) === 'chunk'
        t.equal(found.lost.versions, isChunk ? 1 : 0, which)
        t.same([...found.missing, ...found.damaged], isChunk ? [file] : [], which)
      }
    }
  })

  t.test('of any file is found and named by verify', async (t) => {
    const random = new Random(1, 'verify')
    let tried = 0
    for (const file of world.files) {
      const whole = world.bytesOf(file)
      for (let n = 0; n < DAMAGES_OF_EACH_FILE; n++) {
        const [what, damage] = random.pick(Object.entries(DAMAGES))
        const bytes = damage(random, whole)
        if (bytes.equals(whole)) continue
        tried++
        const said = await world.damaged(file, bytes, () => verified(world.target))
        // Only the driver of a backup that is under way reads its cut.
        const isNeeded = kindOf(file) !== 'cut.json'
        if (isNamed(said, file) !== isNeeded) t.fail(`${file} ${what}: ${saidBy(said)}`)
        if (!isNeeded) t.match(said, { damageCount: 0 })
      }
    }
    t.ok(tried > 3 * world.files.length, `${tried} damages`)
  })

  t.test('that puts one file in the place of another is found', async (t) => {
    for (const kind of ['chunk', 'chunks', 'state'])
      for (const file of world.files.filter((one) => kindOf(one) === kind)) {
        const others = world.files.filter((one) => one !== file && kindOf(one) !== 'cut.json')
        const other = others.find((one) => kindOf(one) === kind) ?? others[0] ?? file
        const said = await world.damaged(file, world.bytesOf(other), () => verified(world.target))
        t.ok(isNamed(said, file), file)
      }
  })
})

/** A target that says what a test wants beside a whole backup. */
function lying(target: BackupTarget, lies: Partial<Pick<BackupTarget, 'get' | 'list'>>): BackupTarget {
  return {
    description: 'lying',
    put: (...args) => target.put(...args),
    get: (...args) => target.get(...args),
    head: (name) => target.head(name),
    list: (prefix) => target.list(prefix),
    remove: (name) => target.remove(name),
    close: () => target.close(),
    ...lies,
  }
}

t.test('a target that lies', async (t) => {
  const world = await World.make(t)
  const { target } = world
  const [chunk = ''] = world.files.filter((file) => kindOf(file) === 'chunk')

  t.test('by a listing without a chunk: it counts as missing, and the rest is restored', async (t) => {
    const list = async function* (prefix: string): AsyncIterable<TargetEntry> {
      for await (const entry of target.list(prefix)) if (entry.name !== chunk) yield entry
    }
    const found = await restored(lying(target, { list }), join(t.testdir(), 'n1'))
    t.match(found, { missing: [chunk], damaged: [], lost: { versions: 1 } })
  })

  t.test('by a listing with another size: it counts as damaged', async (t) => {
    const list = async function* (prefix: string): AsyncIterable<TargetEntry> {
      for await (const entry of target.list(prefix))
        yield entry.name === chunk ? { ...entry, size: 1 } : entry
    }
    t.match(await restored(lying(target, { list }), join(t.testdir(), 'n1')), { damaged: [chunk] })
  })

  t.test('by a listing of what it does not give out: it counts as missing', async (t) => {
    const get: BackupTarget['get'] = (name, range) => {
      if (name === chunk) throw new TargetMissing(`${name} is not there`)
      return target.get(name, range)
    }
    t.match(await restored(lying(target, { get }), join(t.testdir(), 'n1')), { missing: [chunk] })
  })

  t.test('by bytes that never end: no more of a file is taken than its size', async (t) => {
    const piece = Buffer.alloc(64 * 1024)
    for (const kind of ['chunk', 'chunks', 'record', 'state', 'manifest.json']) {
      const file = world.files.find((one) => kindOf(one) === kind) ?? ''
      let given = 0
      const get: BackupTarget['get'] = (name, range) => (name === file ? endless() : target.get(name, range))
      const endless = async function* (): AsyncIterable<Uint8Array> {
        for (;;) {
          given += piece.length
          yield piece
        }
      }
      const said = await verified(lying(target, { get }))
      t.ok(isNamed(said, file), `${kind}: ${saidBy(said)}`)
      const most = kind === 'manifest.json' ? 65 * 1024 * 1024 : 2 * piece.length
      t.ok(given <= most, `${kind}: ${given} bytes were taken`)
    }
  })

  t.test('a manifest that is another backup, or sealed under another key, is refused by name', async (t) => {
    const file = world.files.find((one) => kindOf(one) === 'manifest.json') ?? ''
    const moved = { ...LISTED, backupId: '20261127t130000z-0123abcd' }
    await t.rejects(
      BackupReader.open(lying(target, { get: () => target.get(file) }), moved, testMasterKey),
      TargetCorrupt,
    )
  })
})
