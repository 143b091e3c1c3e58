/**
 * The master key behind a security module: the suite of all providers over SoftHSM, and what goes wrong with a module.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StartError } from '../../cluster/index.ts'
import { createKey } from '../../src/access/key-file-changes.ts'
import { loadMasterKeyOnce } from '../../src/access/provided-keys.ts'
import { ProviderCheck } from '../../src/access/provider-check.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { keyProviderSuite } from '../port-suites/key-provider.ts'
import { makeSoftHsm, NO_SOFTHSM, PIN } from './softhsm.ts'

const NEVER = new AbortController().signal

t.test('pkcs11', { skip: NO_SOFTHSM }, async (t) => {
  const { settings: keyProvider } = makeSoftHsm(t)
  await keyProviderSuite(t, { keyProvider })
})

t.test('a security module', { skip: NO_SOFTHSM }, async (t) => {
  const { settings: keyProvider, pinFile } = makeSoftHsm(t)
  const masterKeyFile = join(temporaryFolder(t), 'master.key')
  await createKey(masterKeyFile, keyProvider)
  const load = (changed: Partial<typeof keyProvider> = {}) =>
    loadMasterKeyOnce({ masterKeyFile, masterKeyWaitMs: 0, keyProvider: { ...keyProvider, ...changed } })
  const refusalOf = async (changed: Partial<typeof keyProvider> = {}): Promise<string> => {
    const error: unknown = await load(changed).catch((cause: unknown) => cause)
    if (!(error instanceof StartError)) throw error
    const shown = `${error.code}: ${error.message}`
    t.notOk(`${shown} ${error.stack} ${String(error.cause)}`.includes(PIN), 'the PIN is not shown')
    return shown
  }
  const { fingerprint } = await load()

  await t.test('opens lines of an older pair, and counts them', async (t) => {
    t.equal((await load({ keyId: '02' })).fingerprint, fingerprint)
    const settings = { masterKeyFile, masterKeyWaitMs: 0, keyProvider: { ...keyProvider, keyId: '02' } }
    const check = new ProviderCheck(settings, () => fingerprint)
    t.match(await check.check(NEVER), { result: 'ok', olderLines: 1 })
  })

  await t.test('with a wrong PIN is denied, and is not asked again', async (t) => {
    writeFileSync(pinFile, '0000')
    t.equal(
      await refusalOf(),
      'key_provider_denied: Cannot open the master key: The security module answered: CKR_PIN_INCORRECT',
    )
    writeFileSync(pinFile, PIN)
    t.equal((await load()).fingerprint, fingerprint)
  })

  await t.test('without its token, its pair, its library or the tool is refused', async (t) => {
    t.match(
      await refusalOf({ tokenLabel: 'none' }),
      /^key_provider_unreachable: .* no such module, token or key$/,
    )
    await t.rejects(createKey(join(temporaryFolder(t), 'k'), { ...keyProvider, keyId: '07' }), {
      code: 'key_provider_failed',
      message: /no such module, token or key$/,
    })
    t.match(await refusalOf({ module: process.execPath }), /^key_provider_failed: /)
    const path = process.env['PATH']
    process.env['PATH'] = '/nonexistent'
    t.match(await refusalOf(), /^key_provider_failed: .*pkcs11-tool is not in the PATH/)
    process.env['PATH'] = path ?? ''
  })

  await t.test('does not open what another pair wrapped', async (t) => {
    const { settings } = makeSoftHsm(t)
    t.match(await refusalOf({ ...settings }), /^key_provider_failed: /)
  })
})
