/**
 * The text that is printed when the local cluster is ready: its addresses, and lines to copy and paste.
 */
import { relative } from 'node:path'
import type { ClusterDescription } from './cluster.ts'

export function readyText(cluster: ClusterDescription): string {
  const upload = cluster.nodes[0]
  const download = cluster.nodes[1] ?? upload
  const folder = relative(process.cwd(), cluster.dataDir) || '.'
  const rows = cluster.nodes.map(
    ({ nodeId, dataUrl, adminUrl, pid }) => `  ${nodeId}    ${dataUrl}    ${adminUrl}    ${pid}`,
  )
  const object = 'api/v1/buckets/demo/objects/node_modules.tgz'
  return `
Holdfast is ready: ${cluster.nodes.length} node${cluster.nodes.length === 1 ? '' : 's'}, all data is in ${folder}

  node  data API                 admin API and /metrics   pid
${rows.join('\n')}

Credentials (kept in ${folder}/cluster.json)
  tenant ${cluster.tenantId}, access key ${cluster.accessKeyId}, secret key ${cluster.secretKey}
  owner token for the admin API ${cluster.ownerToken}

Copy and paste in another terminal: upload through ${upload?.nodeId}, download through ${download?.nodeId}

  TOKEN=$(curl -s -u '${cluster.accessKeyId}:${cluster.secretKey}' -X POST ${upload?.dataUrl}/api/v1/auth/token | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"demo"}' ${upload?.dataUrl}/api/v1/buckets
  tar czf node_modules.tgz node_modules
  curl -T node_modules.tgz -H "Authorization: Bearer $TOKEN" ${upload?.dataUrl}/${object}
  curl -o copy.tgz -H "Authorization: Bearer $TOKEN" ${download?.dataUrl}/${object}
  sha256sum node_modules.tgz copy.tgz

Ctrl-C stops it; npm start continues with the same data.
`
}
