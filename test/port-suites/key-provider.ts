/**
 * What every provider of master keys has to do, through the key file, as a node and the command line use it.
 */
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { addKey, createKey, rewrapKeys } from '../../src/access/key-file-changes.ts'
import { loadMasterKeyOnce, keyNames } from '../../src/access/provided-keys.ts'
import type { KeyProviderSettings } from '../../src/config/types.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

export interface ProviderUnderTest {
  readonly keyProvider: KeyProviderSettings
  /** A new version of the provider's key; absent: it has no versions. */
  readonly rotate?: () => Promise<void>
}

const PLAIN = { kind: 'file' } as const
const masterKeyWaitMs = 0

export async function keyProviderSuite(t: Test, { keyProvider, rotate }: ProviderUnderTest): Promise<void> {
  const folder = temporaryFolder(t)
  const masterKeyFile = join(folder, 'master.key')
  const settings = { masterKeyFile, keyProvider, masterKeyWaitMs }
  const text = (): string => readFileSync(masterKeyFile, 'utf8')

  await t.test('makes a key that opens what it sealed after each start', async (t) => {
    const { ids } = await createKey(masterKeyFile, keyProvider)
    t.equal(statSync(masterKeyFile).mode & 0o777, 0o600)
    const first = await loadMasterKeyOnce(settings)
    t.strictSame(first.ids, ids)
    const again = await loadMasterKeyOnce(settings)
    t.strictSame(again.open(first.seal(Buffer.from('s'), 'c'), 'c'), Buffer.from('s'))
    await t.rejects(createKey(masterKeyFile, keyProvider), { code: 'master_key_exists' })
  })

  await t.test('names the keys without opening them', async (t) => {
    const { fingerprint, fingerprints } = await loadMasterKeyOnce(settings)
    t.strictSame(await keyNames(settings), { fingerprint, fingerprints })
  })

  await t.test('puts a new key in front of the old one, which opens as before', async (t) => {
    const before = await loadMasterKeyOnce(settings)
    const sealed = before.seal(Buffer.from('old'), 'c')
    const { ids } = await addKey(settings)
    t.strictSame(ids.slice(1), before.ids)
    const after = await loadMasterKeyOnce(settings)
    t.strictSame(after.ids, ids)
    t.strictSame(after.open(sealed, 'c'), Buffer.from('old'))
  })

  await t.test('wraps the same keys under its newest version', async (t) => {
    const [before, lines] = [await loadMasterKeyOnce(settings), text()]
    await rotate?.()
    t.strictSame(
      (await loadMasterKeyOnce(settings)).fingerprints,
      before.fingerprints,
      'old lines still open',
    )
    await rewrapKeys(settings, keyProvider)
    t.strictSame((await loadMasterKeyOnce(settings)).fingerprints, before.fingerprints)
    t.equal(text() !== lines, keyProvider.kind !== 'file', 'the lines are new, where they are wrapped')
  })

  await t.test('gives the keys back to a plain file and takes them again', async (t) => {
    const before = await loadMasterKeyOnce(settings)
    const elsewhere = join(folder, 'moved.key')
    copyFileSync(masterKeyFile, elsewhere)
    const plain = { masterKeyFile: elsewhere, keyProvider: PLAIN, masterKeyWaitMs }
    await rewrapKeys(plain, keyProvider)
    t.strictSame((await loadMasterKeyOnce(plain)).fingerprints, before.fingerprints)
    const secrets = readFileSync(elsewhere, 'utf8').match(/[\w-]{43}$/gm) ?? []
    t.equal(secrets.length, 2)
    const there = { ...settings, masterKeyFile: elsewhere }
    await rewrapKeys(there, PLAIN)
    t.strictSame((await loadMasterKeyOnce(there)).fingerprints, before.fingerprints)
    if (keyProvider.kind !== 'file')
      for (const secret of secrets)
        t.notOk(readFileSync(elsewhere, 'utf8').includes(secret), 'no key is left')
  })

  await t.test('is refused lines of another form', async (t) => {
    const other = join(folder, 'other.key')
    const text =
      keyProvider.kind === 'file'
        ? `holdfast-wrapped-key-1:mk-a:${'0'.repeat(64)}:vault:1:AAAA\n`
        : `holdfast-master-key-1:mk-a:${Buffer.alloc(32).toString('base64url')}\n`
    writeFileSync(other, text, { mode: 0o600 })
    const there = { ...settings, masterKeyFile: other }
    await t.rejects(loadMasterKeyOnce(there), { code: 'master_key_wrong_provider' })
    await t.rejects(addKey(there), { code: 'master_key_wrong_provider' })
  })
}
