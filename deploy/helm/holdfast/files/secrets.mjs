/**
 * The Job of the chart that makes keys and certificates with `holdfast master-key` and `holdfast certs`, and keeps them in two Secrets: the authority, which
 * no pod of a node mounts, and what the nodes need.
 *
 * Rules: what is in a Secret is never replaced; the authority is written first, so that an interruption leaves nothing that does not fit; keys are in files
 * in memory only. The Secrets do not belong to Helm, so an uninstallation leaves them: with the master key all data would go.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const CALL_MS_MAX = 30_000
const AUTHORITY_FILES = ['ca.pem', 'ca.key', 'master.key', 'cluster-id']
const SHARED = ['ca.pem', 'master.key', 'cluster-id']

const {
  NAMESPACE = '',
  AUTHORITY = '',
  NODES = '',
  HOSTS = '',
  NODES_FILE = '/opt/chart/nodes.json',
  TOKEN_FILE = `${ACCOUNT}/token`,
  KUBERNETES = 'https://kubernetes.default.svc',
} = process.env

async function call(method, name, { body, type = 'application/json' } = {}) {
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets${name === '' ? '' : `/${name}`}`
  const response = await fetch(`${KUBERNETES}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8').trim()}`,
      'content-type': type,
      // Certificates are made between two calls, for longer than a server keeps an idle connection.
      connection: 'close',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS_MAX),
  })
  if (response.status === 404 && method === 'GET') return null
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${await response.text()}`)
  return response.json()
}

const holdfast = (...args) => execFileSync('holdfast', args, { stdio: ['ignore', 'ignore', 'inherit'] })
const base64 = (folder, file) => readFileSync(join(folder, file)).toString('base64')
const secret = (name, data, more = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels: { 'app.kubernetes.io/name': 'holdfast' } },
  type: 'Opaque',
  data,
  ...more,
})

/** Into the folder, from its Secret or for the first time. */
async function authorityInto(folder, { isFirst }) {
  const found = await call('GET', AUTHORITY)
  if (found !== null) {
    for (const file of AUTHORITY_FILES) {
      if (found.data?.[file] === undefined)
        throw new Error(`Secret ${AUTHORITY} has no ${file}: put it back from your backup; nothing was changed`)
      writeFileSync(join(folder, file), Buffer.from(found.data[file], 'base64'), { mode: 0o600 })
    }
    return
  }
  if (!isFirst)
    throw new Error(
      `Secret ${AUTHORITY} is gone while ${NODES} is there: put it back from your backup. Another authority would not fit; nothing was changed`,
    )
  const id = randomBytes(16).toString('hex')
  writeFileSync(join(folder, 'cluster-id'), id)
  holdfast('certs', 'init', '--dir', folder, '--cluster-id', id)
  holdfast('master-key', 'create', join(folder, 'master.key'))
  const data = Object.fromEntries(AUTHORITY_FILES.map((file) => [file, base64(folder, file)]))
  await call('POST', '', { body: secret(AUTHORITY, data, { immutable: true }) })
  process.stdout.write(`made ${AUTHORITY}: back it up, away from this cluster\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
const nodes = await call('GET', NODES)
await authorityInto(folder, { isFirst: nodes === null })
const given = nodes?.data ?? {}
const data = {}
if (nodes === null) for (const file of SHARED) data[file] = base64(folder, file)
for (const { id, host } of JSON.parse(readFileSync(NODES_FILE, 'utf8'))) {
  if (given[`${id}.key`] !== undefined && given[`${id}.pem`] !== undefined) continue
  const hosts = [host, ...HOSTS.split(',')].filter((name) => name !== '').flatMap((name) => ['--host', name])
  holdfast('certs', 'issue', '--dir', folder, '--node', id, ...hosts)
  for (const file of [`${id}.pem`, `${id}.key`]) data[file] = base64(folder, file)
  process.stdout.write(`made the certificate of ${id}\n`)
}
if (nodes === null) await call('POST', '', { body: secret(NODES, data) })
else if (Object.keys(data).length > 0)
  await call('PATCH', NODES, { body: { data }, type: 'application/merge-patch+json' })
else process.stdout.write('everything is there; nothing was changed\n')
