/**
 * Providers that are away, slow, wrong or lie: what a start says of each, and what it never says.
 */
import { randomBytes } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { StartError } from '../../cluster/index.ts'
import { addKey, createKey, rewrapKeys } from '../../src/access/key-file-changes.ts'
import { loadMasterKey, loadMasterKeyOnce } from '../../src/access/provided-keys.ts'
import { ProviderCheck } from '../../src/access/provider-check.ts'
import type { KeyProviderSettings } from '../../src/config/types.ts'
import { until } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { kmsAt, vaultAt } from './settings.ts'
import { KmsStandIn } from './kms-stand-in.ts'
import type { StandInFault } from './stand-in.ts'
import { VaultStandIn } from './vault-stand-in.ts'

const NEVER = new AbortController().signal
const PLAIN = { kind: 'file' } as const

interface World<S> {
  readonly server: S
  readonly settings: {
    readonly masterKeyFile: string
    readonly keyProvider: KeyProviderSettings
    readonly masterKeyWaitMs: number
  }
  readonly credential: string
  readonly credentialFile: string
}

async function vaultWorld(t: Test, auth: 'token' | 'approle' = 'token'): Promise<World<VaultStandIn>> {
  const folder = temporaryFolder(t)
  const server = new VaultStandIn()
  server.createKey('holdfast')
  server.createKey('other')
  await server.arrive()
  t.teardown(() => server.leave())
  const credential = auth === 'token' ? server.issueToken() : randomBytes(16).toString('hex')
  server.allow('approle', 'node', credential)
  const credentialFile = join(folder, 'credential')
  writeFileSync(credentialFile, credential)
  const masterKeyFile = join(folder, 'master.key')
  const keyProvider = vaultAt(server.url, credentialFile, { auth, role: 'node' })
  await createKey(masterKeyFile, keyProvider)
  const settings = { masterKeyFile, keyProvider, masterKeyWaitMs: 0 }
  return { server, settings, credential, credentialFile }
}

async function kmsWorld(t: Test): Promise<World<KmsStandIn>> {
  const folder = temporaryFolder(t)
  const server = new KmsStandIn()
  server.createKey('holdfast')
  server.createKey('other')
  const credential = randomBytes(16).toString('hex')
  server.token = credential
  await server.arrive()
  t.teardown(() => server.leave())
  const credentialFile = join(folder, 'credential')
  writeFileSync(credentialFile, credential)
  const masterKeyFile = join(folder, 'master.key')
  const keyProvider = kmsAt(server.url, { tokenFile: credentialFile })
  await createKey(masterKeyFile, keyProvider)
  const settings = { masterKeyFile, keyProvider, masterKeyWaitMs: 0 }
  return { server, settings, credential, credentialFile }
}

/** Everything that an operator may get to see of it. */
async function refusalOf(work: Promise<unknown>): Promise<StartError & { readonly shown: string }> {
  const error: unknown = await work.catch((cause: unknown) => cause)
  if (!(error instanceof StartError)) throw error
  const shown = `${error.message} ${error.hint} ${error.stack} ${String(error.cause)}`
  return Object.assign(error, { shown })
}

const CODES: Readonly<Record<Exclude<StandInFault, 'silent'>, string>> = {
  sealed: 'key_provider_unreachable',
  lying: 'master_key_mismatch',
  garbage: 'key_provider_failed',
  flood: 'key_provider_failed',
  indiscreet: 'key_provider_failed',
  redirecting: 'key_provider_failed',
}

for (const [name, worldOf] of Object.entries({ vault: vaultWorld, kms: kmsWorld }))
  t.test(name, async (t) => {
    const { server, settings, credential, credentialFile } = await worldOf(t)
    const good = readFileSync(settings.masterKeyFile, 'utf8')

    for (const [fault, code] of Object.entries(CODES))
      await t.test(`that is ${fault} is refused, and no secret is said`, async (t) => {
        server.fault = fault as StandInFault
        const refused = await refusalOf(loadMasterKeyOnce(settings))
        t.equal(refused.code, code)
        t.match(refused.hint, /Nothing was changed\.$/)
        t.notOk(refused.shown.includes(credential), 'the credential')
        const changed = await refusalOf(addKey(settings))
        const wrapped = server.asked.map(({ body }) => body['plaintext']).filter((text) => text !== undefined)
        for (const text of wrapped) t.notOk(changed.shown.includes(text), 'a key in flight')
        t.equal(readFileSync(settings.masterKeyFile, 'utf8'), good, 'the file is as before')
        server.fault = null
        await loadMasterKeyOnce(settings)
      })

    await t.test('that is away is waited for, and asked again', async (t) => {
      await server.leave()
      const reasons: string[] = []
      const onWait = async (reason: string): Promise<void> => {
        reasons.push(reason)
        if (reasons.length === 2) await server.arrive()
      }
      const masterKey = await loadMasterKey(settings, { waitMs: 600_000, onWait })
      t.equal(masterKey.ids.length, 1)
      t.equal(reasons.length, 2)
      t.match(reasons[0], /did not answer \(ECONNREFUSED\)$/)
    })

    await t.test('that stays away ends the wait', async (t) => {
      await server.leave()
      const reasons: string[] = []
      const onWait = async (reason: string): Promise<void> => void reasons.push(reason)
      const refused = await refusalOf(loadMasterKey(settings, { waitMs: 1500, onWait }))
      t.equal(refused.code, 'key_provider_unreachable')
      t.ok(reasons.length >= 1, 'after more than one try')
      await server.arrive()
    })

    await t.test('that takes a request and never answers is left when the node has to end', async (t) => {
      server.fault = 'silent'
      const ending = new AbortController()
      const before = server.asked.length
      const loading = loadMasterKey(settings, { waitMs: 3_600_000, signal: ending.signal })
      const ended = loading.catch((cause: unknown) => cause)
      await until('it was asked', async () => server.asked.length > before)
      ending.abort(new Error('stop'))
      t.match(await ended, { message: 'stop' })
      server.fault = null
    })

    await t.test('that never answers ends the wait all the same', async (t) => {
      server.fault = 'silent'
      const refused = await refusalOf(loadMasterKey(settings, { waitMs: 1 }))
      t.equal(refused.code, 'key_provider_unreachable')
      t.match(refused.message, /no answer in time/)
      server.fault = null
    })

    await t.test('that does not know the credential refuses at once', async (t) => {
      writeFileSync(credentialFile, 'hvs.unknown')
      const onWait = async (): Promise<void> => void t.fail('it is not waited for')
      const refused = await refusalOf(loadMasterKey(settings, { waitMs: 3_600_000, onWait }))
      t.equal(refused.code, 'key_provider_denied')
      t.notOk(refused.shown.includes('hvs.unknown'))
      writeFileSync(credentialFile, credential)
      t.equal((await loadMasterKeyOnce(settings)).ids.length, 1, 'the file is read again')
    })

    await t.test('asked for another key does not open the line', async (t) => {
      const keyProvider = { ...settings.keyProvider, keyName: 'other' } as KeyProviderSettings
      t.equal((await refusalOf(loadMasterKeyOnce({ ...settings, keyProvider }))).code, 'key_provider_failed')
      const none = { ...settings.keyProvider, keyName: 'none' } as KeyProviderSettings
      const refused = await refusalOf(loadMasterKeyOnce({ ...settings, keyProvider: none }))
      t.equal(refused.code, 'key_provider_failed')
      t.match(refused.message, /(encryption key not found|there is no such key)$/)
    })

    await t.test('opens a line that names another key to nothing', async (t) => {
      const [, id = '', fingerprint = ''] = good.split(':')
      for (const changed of [
        good.replace(id, 'mk-other'),
        good.replace(
          fingerprint,
          fingerprint.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
        ),
      ]) {
        writeFileSync(settings.masterKeyFile, changed)
        t.equal((await refusalOf(loadMasterKeyOnce(settings))).code, 'master_key_mismatch')
      }
      writeFileSync(settings.masterKeyFile, good)
    })

    await t.test('never sees its file changed by a move that fails half-way', async (t) => {
      const file = join(temporaryFolder(t), 'moved.key')
      copyFileSync(settings.masterKeyFile, file)
      const there = { ...settings, masterKeyFile: file }
      await rewrapKeys({ ...there, keyProvider: PLAIN }, settings.keyProvider)
      const plain = readFileSync(file, 'utf8')
      server.fault = 'lying'
      t.equal((await refusalOf(rewrapKeys(there, PLAIN))).code, 'master_key_mismatch')
      t.equal(readFileSync(file, 'utf8'), plain, 'what would not open again is not written')
      server.fault = null
    })
  })

t.test('a login of Vault', async (t) => {
  const { server, settings } = await vaultWorld(t, 'approle')
  const check = new ProviderCheck(settings, () => fingerprint)
  const { fingerprint } = await loadMasterKeyOnce(settings)
  t.teardown(() => check.close())
  t.match(await check.check(NEVER), { result: 'ok' })
  const logins = (): number => server.asked.filter(({ path }) => path.endsWith('/login')).length
  const before = logins()

  await t.test('lasts for more than one question', async (t) => {
    t.match(await check.check(NEVER), { result: 'ok' })
    t.equal(logins(), before)
  })

  await t.test('is made again when its token is over', async (t) => {
    server.expireTokens()
    t.match(await check.check(NEVER), { result: 'ok' })
    t.equal(logins(), before + 1)
  })

  await t.test('that Vault does not take any more is not repeated without an end', async (t) => {
    server.expireTokens()
    server.allow('approle', 'node', 'another secret')
    t.match(await check.check(NEVER), { result: 'denied', reason: /login was refused/ })
    t.equal(logins(), before + 2)
    server.answersOldLogins = true
    t.match(await check.check(NEVER), {
      result: 'denied',
      reason: /login was refused.*500: invalid secret id/,
    })
  })
})

t.test('a token of Vault', async (t) => {
  const { server, settings, credentialFile } = await vaultWorld(t)
  const { fingerprint } = await loadMasterKeyOnce(settings)
  const check = new ProviderCheck(settings, () => fingerprint)
  t.teardown(() => check.close())

  await t.test('is extended by each check', async (t) => {
    const renewals = (): number => server.asked.filter(({ path }) => path.endsWith('/renew-self')).length
    t.match(await check.check(NEVER), { result: 'ok' })
    t.equal(renewals(), 1)
  })

  await t.test('that is over is denied, until its file holds another', async (t) => {
    server.expireTokens()
    t.match(await check.check(NEVER), { result: 'denied', reason: /403: permission denied/ })
    writeFileSync(credentialFile, server.issueToken())
    t.match(await check.check(NEVER), { result: 'ok' })
  })
})

t.test('the check of a running node with a plain file', async (t) => {
  const masterKeyFile = join(temporaryFolder(t), 'master.key')
  await createKey(masterKeyFile)
  const settings = { masterKeyFile, keyProvider: PLAIN, masterKeyWaitMs: 0 }
  const { fingerprint } = await loadMasterKeyOnce(settings)
  const check = new ProviderCheck(settings, () => fingerprint)
  t.match(await check.check(NEVER), { result: 'ok', olderLines: null })
  await addKey(settings)
  t.match(await check.check(NEVER), { result: 'ok' }, 'an older line is enough')
  rmSync(masterKeyFile)
  t.match(await check.check(NEVER), { result: 'file', reason: /Cannot read/ })
  await createKey(masterKeyFile)
  t.match(await check.check(NEVER), { result: 'mismatch', reason: /no longer holds/ })
})

t.test('the check of a running node', async (t) => {
  const { server, settings } = await vaultWorld(t)
  let { fingerprint } = await loadMasterKeyOnce(settings)
  const check = new ProviderCheck(settings, () => fingerprint)
  t.teardown(() => check.close())

  await t.test('counts lines under an older version, where it may know', async (t) => {
    t.match(await check.check(NEVER), { result: 'ok', olderLines: 0 })
    server.rotateKey('holdfast')
    t.match(await check.check(NEVER), { result: 'ok', olderLines: 1 })
    server.describes = false
    t.match(await check.check(NEVER), { result: 'ok', olderLines: null })
  })

  await t.test('says what is wrong', async (t) => {
    server.fault = 'lying'
    t.match(await check.check(NEVER), { result: 'mismatch' })
    server.fault = 'sealed'
    t.match(await check.check(NEVER), { result: 'unreachable', reason: /503: Vault is sealed/ })
    server.fault = null
    const good = fingerprint
    fingerprint = 'f'
    t.match(await check.check(NEVER), { result: 'mismatch', reason: /no longer holds/ })
    fingerprint = good
    writeFileSync(settings.masterKeyFile, 'x')
    t.match(await check.check(NEVER), { result: 'file' })
  })
})
