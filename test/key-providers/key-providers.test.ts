/**
 * The providers of the master key: one suite for the file, Vault and a key service, for security modules in security-module.test.ts; the real Vault too, where `HOLDFAST_VAULT` names its
 * program.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey } from '../../src/access/key-file-changes.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { keyProviderSuite } from '../port-suites/key-provider.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'
import { KmsStandIn } from './kms-stand-in.ts'
import { REAL_VAULT, startRealVault } from './real-vault.ts'
import { kmsAt, vaultAt } from './settings.ts'
import { VaultStandIn } from './vault-stand-in.ts'

function credentialFile(t: Test, credential: string): string {
  const file = join(temporaryFolder(t), 'credential')
  writeFileSync(file, `${credential}\n`, { mode: 0o600 })
  return file
}

async function vault(t: Test, made = new VaultStandIn()): Promise<VaultStandIn> {
  made.createKey('holdfast')
  await made.arrive()
  t.teardown(() => made.leave())
  return made
}

t.test('file', (t) => keyProviderSuite(t, { keyProvider: { kind: 'file' } }))

t.test('vault, with a token', async (t) => {
  const server = await vault(t)
  const keyProvider = vaultAt(server.url, credentialFile(t, server.issueToken()))
  await keyProviderSuite(t, { keyProvider, rotate: async () => server.rotateKey('holdfast') })
})

for (const auth of ['approle', 'jwt', 'kubernetes'] as const)
  t.test(`vault, with a login by ${auth}, in a namespace`, async (t) => {
    const server = await vault(t)
    const secret = randomBytes(16).toString('hex')
    server.allow('west', 'node', secret)
    server.namespace = 'team/storage'
    const more = { auth, role: 'node', authMount: 'west', namespace: 'team/storage' } as const
    const keyProvider = vaultAt(server.url, credentialFile(t, secret), more)
    await keyProviderSuite(t, { keyProvider, rotate: async () => server.rotateKey('holdfast') })
  })

t.test('vault, over TLS with an authority of its own', async (t) => {
  const certificates = new MadeCertificates(t)
  const { certificate: cert, key } = certificates.pair('vault', { hosts: ['127.0.0.1'] })
  const server = await vault(t, new VaultStandIn({ cert, key }))
  const token = credentialFile(t, server.issueToken())
  await keyProviderSuite(t, { keyProvider: vaultAt(server.url, token, { ca: certificates.ca }) })
})

t.test('kms, with a token', async (t) => {
  const server = new KmsStandIn()
  server.createKey('holdfast')
  server.token = randomBytes(16).toString('hex')
  await server.arrive()
  t.teardown(() => server.leave())
  const keyProvider = kmsAt(server.url, { tokenFile: credentialFile(t, server.token) })
  await keyProviderSuite(t, { keyProvider, rotate: async () => server.rotateKey('holdfast') })
})

t.test('kms, with a certificate', async (t) => {
  const certificates = new MadeCertificates(t)
  const { certificate, key: ofServer } = certificates.pair('kms', { hosts: ['127.0.0.1'] })
  const server = new KmsStandIn({ cert: certificate, key: ofServer, clientCa: certificates.caText })
  server.createKey('keys/holdfast')
  await server.arrive()
  t.teardown(() => server.leave())
  const { ca, cert, key } = certificates.issue('n1')
  const keyProvider = kmsAt(server.url, { ca, cert, key, keyName: 'keys/holdfast' })
  await keyProviderSuite(t, { keyProvider, rotate: async () => server.rotateKey('keys/holdfast') })
})

t.test(
  'a real Vault',
  { skip: REAL_VAULT === null ? 'HOLDFAST_VAULT names no program' : false },
  async (t) => {
    const server = await startRealVault(t)
    const rotate = (): Promise<void> => server.rotate('holdfast')
    await t.test('with a token', async (t) => {
      const keyProvider = vaultAt(server.url, credentialFile(t, server.nodeToken))
      await keyProviderSuite(t, { keyProvider, rotate })
    })
    await t.test('with a login by approle', async (t) => {
      const { roleId, secretId } = server.appRole
      const more = { auth: 'approle', role: roleId } as const
      await keyProviderSuite(t, {
        keyProvider: vaultAt(server.url, credentialFile(t, secretId), more),
        rotate,
      })
    })
    await t.test('denies what the policy of the guide does not allow, as the stand-in does', async (t) => {
      const { roleId, secretId } = server.appRole
      const approle = { auth: 'approle', role: roleId } as const
      const good = credentialFile(t, secretId)
      for (const keyProvider of [
        vaultAt(server.url, credentialFile(t, 'hvs.unknown')),
        vaultAt(server.url, credentialFile(t, 'unknown'), approle),
        vaultAt(server.url, good, { ...approle, role: 'unknown' }),
        vaultAt(server.url, good, { ...approle, keyName: 'other' }),
        vaultAt(server.url, good, { ...approle, mount: 'elsewhere' }),
      ])
        await t.rejects(createKey(join(temporaryFolder(t), 'key'), keyProvider), {
          code: 'key_provider_denied',
        })
    })
  },
)
