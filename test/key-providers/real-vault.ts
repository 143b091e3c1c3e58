/**
 * The server of HashiCorp Vault or OpenBao, where `HOLDFAST_VAULT` names its program: in memory, on loopback, set up as the guide says.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import type { Test } from 'tap'
import { until } from '../helpers/async.ts'
import { VAULT_POLICY } from './vault-policy.ts'

export const REAL_VAULT = process.env['HOLDFAST_VAULT'] ?? null

interface RealVault {
  readonly url: string
  readonly nodeToken: string
  readonly appRole: { readonly roleId: string; readonly secretId: string }
  rotate(key: string): Promise<void>
}

type Answer = Readonly<Record<string, Readonly<Record<string, string>>>>

export async function startRealVault(t: Test): Promise<RealVault> {
  const port = await freePort()
  const [url, root] = [`http://127.0.0.1:${port}`, randomBytes(16).toString('hex')]
  const flags = [
    'server',
    '-dev',
    '-dev-no-store-token',
    `-dev-root-token-id=${root}`,
    `-dev-listen-address=127.0.0.1:${port}`,
  ]
  const child = spawn(REAL_VAULT ?? '', flags, { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const ask = async (method: 'GET' | 'POST' | 'PUT', path: string, body: object = {}): Promise<Answer> => {
    const { statusCode, body: answer } = await request(`${url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': root },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (statusCode >= 300) throw new Error(`${path}: ${statusCode} ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Answer
  }
  await until('Vault answers', () => {
    if (child.exitCode !== null) throw new Error(`Vault ended with ${child.exitCode}`)
    return ask('GET', 'sys/health').then(
      () => true,
      () => false,
    )
  })
  await ask('POST', 'sys/mounts/transit', { type: 'transit' })
  await ask('POST', 'transit/keys/holdfast', {})
  await ask('PUT', 'sys/policies/acl/holdfast', { policy: VAULT_POLICY })
  const { auth } = await ask('POST', 'auth/token/create', { policies: ['holdfast'], period: '24h' })
  await ask('POST', 'sys/auth/approle', { type: 'approle' })
  await ask('POST', 'auth/approle/role/node', { token_policies: 'holdfast', token_ttl: '1h' })
  const role = await ask('GET', 'auth/approle/role/node/role-id')
  const secret = await ask('POST', 'auth/approle/role/node/secret-id')
  return {
    url,
    nodeToken: auth?.['client_token'] ?? '',
    appRole: { roleId: role['data']?.['role_id'] ?? '', secretId: secret['data']?.['secret_id'] ?? '' },
    rotate: async (key) => void (await ask('POST', `transit/keys/${key}/rotate`)),
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
