/**
 * The master key: its file, the errors of that file, and that a sealed secret opens only where it belongs.
 */
import type { KeyObject } from 'node:crypto'
import { chown, chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { StartError } from '../../cluster/index.ts'
import { addKey } from '../../src/access/key-file-changes.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { MasterKeyVersion } from '../../src/access/master-key-version.ts'

const folder = await mkdtemp(join(tmpdir(), 'holdfast-master-key-'))
t.teardown(() => rm(folder, { recursive: true }))

const ENCODED = Buffer.alloc(32, 0xab).toString('base64url')
const LINE = `holdfast-master-key-1:mk-2026:${ENCODED}\n`

async function refusal(file: string): Promise<StartError> {
  const error: unknown = await MasterKey.load(file).catch((cause: unknown) => cause)
  if (error instanceof StartError) return error
  throw new Error(`'${file}' was not refused with a StartError`, { cause: error })
}

t.test('MasterKey.create', async (t) => {
  t.test('writes a file that only its owner may read, and that loads as the same key', async (t) => {
    const file = join(folder, 'created')
    const created = await MasterKey.create(file)
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.match(await readFile(file, 'utf8'), /^holdfast-master-key-1:mk-[a-z0-9-]+:[A-Za-z0-9_-]{43}\n$/)
    const loaded = await MasterKey.load(file)
    t.equal(loaded.id, created.id)
    t.equal(loaded.fingerprint, created.fingerprint)
    t.strictSame(loaded.open(created.seal(Buffer.from('x'), 'c'), 'c'), Buffer.from('x'))
  })

  t.test('never overwrites a key', async (t) => {
    const file = join(folder, 'kept')
    await writeFile(file, LINE, { mode: 0o600 })
    await t.rejects(MasterKey.create(file), { code: 'master_key_exists' })
    t.equal(await readFile(file, 'utf8'), LINE)
    await t.rejects(MasterKey.create(join(folder, 'no', 'such')), { code: 'master_key_unwritable' })
  })
})

t.test('MasterKey.load', async (t) => {
  t.test('refuses with master_key_missing and names the command to run', async (t) => {
    const error = await refusal(join(folder, 'absent'))
    t.equal(error.code, 'master_key_missing')
    t.match(error.message, 'absent')
    t.match(error.hint, /every node needs the same/)
  })

  t.test(
    'refuses with master_key_exposed and suggests chmod 600',
    { skip: process.platform === 'win32' },
    async (t) => {
      const file = join(folder, 'exposed')
      await writeFile(file, LINE)
      for (const mode of [0o640, 0o604, 0o666, 0o620, 0o601]) {
        await chmod(file, mode)
        const error = await refusal(file)
        t.equal(error.code, 'master_key_exposed')
        t.equal(error.hint, `Run: chmod 600 ${file}`)
      }
      await chmod(file, 0o400)
      t.equal((await MasterKey.load(file)).id, 'mk-2026')
    },
  )

  t.test('refuses with master_key_malformed and never quotes the contents of the file', async (t) => {
    const file = join(folder, 'malformed')
    const bad = [
      '',
      ENCODED,
      LINE.repeat(2),
      `${LINE}\n`,
      ` ${LINE}`,
      LINE.replace('key-1', 'key-2'),
      LINE.replace('mk-2026', 'MK'),
      LINE.replace('mk-2026', ''),
      LINE.replace(ENCODED, ENCODED.slice(1)),
      LINE.replace(ENCODED, `${ENCODED.slice(0, -1)}t`),
      LINE.replace(ENCODED, Buffer.alloc(33).toString('base64url')),
      LINE.padEnd(5000),
    ]
    for (const text of bad) {
      await writeFile(file, text, { mode: 0o600 })
      const error = await refusal(file)
      t.equal(error.code, 'master_key_malformed', JSON.stringify(text.slice(0, 50)))
      t.notOk(`${inspect(error)}${error.hint}`.includes(ENCODED.slice(1, 20)))
    }
  })
})

t.test('a master key', async (t) => {
  const key = MasterKey.fromBytes('mk-a', Buffer.alloc(32, 1))

  t.test('derives another key for each label and info, the same ones at every start', async (t) => {
    const version = (): MasterKeyVersion => new MasterKeyVersion('mk-a', Buffer.alloc(32, 1))
    const one = version()
    const derived = [one.derive('native-api-token'), one.derive('signed-url'), one.derive('sealing')]
    derived.push(one.derive('signed-url', 'x'), one.derive('fingerprint', 'mk-a'))
    t.equal(new Set(derived.map((bytes) => bytes.toString('hex'))).size, derived.length)
    t.ok(one.derive('signed-url').equals(version().derive('signed-url')))
    t.ok(one.keyFor('signed-url').export().equals(one.derive('signed-url')))
    t.equal(one.fingerprint, key.fingerprint)
    t.match(key.fingerprint, /^[0-9a-f]{64}$/)
  })

  t.test('has another fingerprint when the bytes or the id differ', async (t) => {
    t.not(MasterKey.fromBytes('mk-a', Buffer.alloc(32, 2)).fingerprint, key.fingerprint)
    t.not(MasterKey.fromBytes('mk-b', Buffer.alloc(32, 1)).fingerprint, key.fingerprint)
  })

  t.test('seals the same secret to different bytes each time', async (t) => {
    const [one, two] = [key.seal(Buffer.from('s'), 'c'), key.seal(Buffer.from('s'), 'c')]
    t.notSame(one, two)
    t.strictSame(key.open(one, 'c'), key.open(two, 'c'))
  })

  t.test('opens no secret with a changed bit, cut short, or sealed for another place', async (t) => {
    const sealed = Buffer.from(key.seal(Buffer.from('secret'), 'tenant/a'))
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      t.throws(() => key.open(changed, 'tenant/a'), { message: /Cannot open the sealed secret/ })
    }
    for (let size = 0; size < sealed.length; size += 1) {
      t.throws(() => key.open(sealed.subarray(0, size), 'tenant/a'), { message: /Cannot open/ })
    }
    t.throws(() => key.open(sealed, 'tenant/b'), { message: /tenant\/b/ })
    t.throws(() => MasterKey.fromBytes('mk-a', Buffer.alloc(32, 2)).open(sealed, 'tenant/a'))
    t.throws(() => MasterKey.fromBytes('mk-b', Buffer.alloc(32, 1)).open(sealed, 'tenant/a'))
  })

  t.test('reveals nothing of itself when it is printed', async (t) => {
    const shown = inspect(key, { showHidden: true, depth: 9 }) + JSON.stringify(key)
    t.notMatch(shown, /01, ?01|AQEB|0101|Buffer/)
  })
})

t.test('several master keys', async (t) => {
  const line = (name: string, byte: number) => ({ id: `mk-${name}`, secret: Buffer.alloc(32, byte) })
  const [older, newer] = [line('a', 1), line('b', 2)]
  const old = MasterKey.of([older])
  const both = MasterKey.of([newer, older])

  t.test('seal with the first key or the one in use, and open with all', async (t) => {
    const before = old.seal(Buffer.from('s'), 'c')
    t.strictSame(both.open(before, 'c'), Buffer.from('s'))
    t.equal(both.sealerOf(before, 'c'), 'mk-a')
    const after = both.seal(Buffer.from('s'), 'c')
    t.equal(both.sealerOf(after, 'c'), 'mk-b')
    t.throws(() => old.open(after, 'c'), { message: /with master key 'mk-b'/ })
    t.equal(old.sealerOf(after, 'c'), null)
    const ring = MasterKey.of([newer, older])
    t.ok(ring.use(old.fingerprint))
    t.equal(ring.id, 'mk-a')
    t.strictSame(old.open(ring.seal(Buffer.from('s'), 'c'), 'c'), Buffer.from('s'))
    t.notOk(ring.use('another'))
    t.equal(ring.id, 'mk-a')
    t.strictSame(ring.ids, ['mk-b', 'mk-a'])
  })

  t.test('sign with the current one and verify with all', async (t) => {
    const ring = MasterKey.of([newer, older])
    const bytes = (keys: readonly KeyObject[]) => keys.map((one) => one.export().toString('hex'))
    t.strictSame(
      bytes(ring.verifyingKeys('signed-url')),
      bytes([MasterKey.of([newer]).signingKey('signed-url'), old.signingKey('signed-url')]),
    )
    ring.use(old.fingerprint)
    t.strictSame(bytes([ring.signingKey('signed-url')]), bytes([old.signingKey('signed-url')]))
    t.strictSame(ring.verifyingKeys('signed-url')[0], ring.signingKey('signed-url'))
  })

  t.test('open secrets of format 1, which names no key', async (t) => {
    // Written by the version that had a single key.
    const sealed = Buffer.from(
      '01c08f5bfc2490662f2cfb9e00de7d1ae73cb5f5063f646f1bbfb8d38b3627a9461e03',
      'hex',
    )
    t.strictSame(both.open(sealed, 'tenant/a'), Buffer.from('secret'))
    t.equal(both.sealerOf(sealed, 'tenant/a'), 'mk-a')
    t.throws(() => MasterKey.of([newer]).open(sealed, 'tenant/a'), { message: /any master key of this node/ })
    t.throws(() => both.open(sealed, 'tenant/b'))
  })

  t.test('are added in front of a file that keeps the others', async (t) => {
    const file = join(folder, 'added')
    const first = await MasterKey.create(file)
    const sealed = first.seal(Buffer.from('s'), 'c')
    const add = (masterKeyFile: string) => addKey({ masterKeyFile, keyProvider: { kind: 'file' } })
    const added = await add(file)
    const loaded = await MasterKey.load(file)
    t.equal(added.ids.length, 2)
    t.equal(added.ids[1], first.id)
    t.strictSame(loaded.ids, added.ids)
    t.not(loaded.fingerprint, first.fingerprint)
    t.strictSame(loaded.open(sealed, 'c'), Buffer.from('s'))
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.strictSame(
      (await readdir(folder)).filter((name) => name.endsWith('.tmp')),
      [],
      'nothing is left behind',
    )
    for (let count = 2; count < 8; count += 1) await add(file)
    await t.rejects(add(file), { code: 'master_key_unwritable', hint: /runbooks/ })
    t.equal((await MasterKey.load(file)).ids.length, 8)
    await t.rejects(add(join(folder, 'absent')), { code: 'master_key_missing' })
  })

  t.test(
    'stay with their owner when root adds one',
    { skip: process.getuid?.() === 0 ? false : 'only root can give files away' },
    async (t) => {
      const file = join(folder, 'owned')
      await MasterKey.create(file)
      await chown(file, 12_345, 12_346)
      await addKey({ masterKeyFile: file, keyProvider: { kind: 'file' } })
      t.match(await stat(file), { uid: 12_345, gid: 12_346 })
    },
  )

  t.test('never share an id in one file', async (t) => {
    const file = join(folder, 'twice')
    await writeFile(file, LINE + LINE.replace(ENCODED, Buffer.alloc(32).toString('base64url')), {
      mode: 0o600,
    })
    t.equal((await refusal(file)).code, 'master_key_malformed')
  })
})
