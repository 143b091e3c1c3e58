/**
 * The cluster under attack: three real nodes with their default settings, and the tenants `acme` and `evil`.
 *
 * Knows nothing of: attacks. Rule: the nodes may be those of another checkout; only the API is used to set them up.
 */
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { Account, AttackedNode, AttackTarget } from './attack.ts'
import { ask } from './call.ts'

const NODES = 3
const BUCKET = 'photos'

/** `mainFile`: the main file of the nodes. */
export async function startAttackWorld(
  t: Parameters<typeof ProcessCluster.start>[0],
  mainFile: string,
): Promise<AttackTarget> {
  const cluster = await ProcessCluster.start(t, NODES, null, {
    launch: ({ configFile }) => ({ command: [process.execPath, mainFile, 'server', '--config', configFile] }),
  })
  const nodes = cluster.plan.map((node): AttackedNode => ({ ...node, pid: cluster.pid(node.nodeId) }))
  const { ownerToken } = cluster.setup
  const account = (id: string): Promise<Account> => accountOf(nodes, ownerToken, id)
  return { nodes, ownerToken, acme: await account('acme'), evil: await account('evil') }
}

async function accountOf(
  [node]: readonly AttackedNode[],
  ownerToken: string,
  tenantId: string,
): Promise<Account> {
  if (node === undefined) throw new Error('There is no node')
  const admin = (path: string, body: object): Promise<Record<string, string>> =>
    post(`${node.adminUrl}/admin/api/v1${path}`, body, ownerToken)
  const data = (path: string, body: object, token?: string): Promise<Record<string, string>> =>
    post(`${node.dataUrl}/api/v1${path}`, body, token)
  await admin('/tenants', { id: tenantId, name: tenantId })
  const made = await admin(`/tenants/${tenantId}/keys`, { scopes: 'read,write,delete,admin' })
  const { accessKeyId = '', secretKey = '' } = made
  const { token = '' } = await data('/auth/token', { accessKeyId, secretKey })
  await data('/buckets', { name: BUCKET }, token)
  return { tenantId, accessKeyId, secretKey, bucket: BUCKET, token }
}

async function post(url: string, body: object, token?: string): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json' }
  const { status, bytes } = await ask(url, {
    method: 'POST',
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    body: Buffer.from(JSON.stringify(body)),
  })
  if (status >= 300) throw new Error(`POST ${url} gave ${status}: ${bytes.toString()}`)
  return JSON.parse(bytes.toString()) as Record<string, string>
}
