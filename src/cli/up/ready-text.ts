/**
 * The text that is printed when the local cluster is ready: its addresses, and lines to copy and paste.
 *
 * Owns: the text. Rule: every line under "Copy and paste" works as it is printed, in the folder where the cluster was started.
 */
import { join, relative, sep } from 'node:path'
import type { ClusterDescription } from './up-command.ts'

interface Started {
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const HERE: Started = { program: process.argv[1] ?? '', env: process.env }

/** How the reader runs a command of the program that printed this. */
export function commandName({ program, env }: Started = HERE): string {
  if (env['npm_lifecycle_event'] === 'start') return 'npm run -s holdfast --'
  // npm gives this to what it runs; a global installation and a package of the system are in the PATH.
  const isOfProject =
    program.includes(`${sep}node_modules${sep}`) && env['npm_config_user_agent'] !== undefined
  return isOfProject ? 'npx holdfast' : 'holdfast'
}

/** Lines for a shell, which every command reads. */
export function environmentLines(cluster: ClusterDescription): readonly string[] {
  const values = {
    HOLDFAST_ENDPOINT: cluster.nodes.map(({ dataUrl }) => dataUrl).join(','),
    HOLDFAST_ACCESS_KEY_ID: cluster.accessKeyId,
    HOLDFAST_SECRET_KEY: cluster.secretKey,
    HOLDFAST_ADMIN_ENDPOINT: cluster.nodes.map(({ adminUrl }) => adminUrl).join(','),
    HOLDFAST_ADMIN_TOKEN: cluster.ownerToken,
    HOLDFAST_TENANT: cluster.tenantId,
  }
  return Object.entries(values).map(([name, value]) => `export ${name}='${value}'`)
}

export function readyText(cluster: ClusterDescription, command = commandName()): string {
  const upload = cluster.nodes[0]
  const download = cluster.nodes.at(-1)
  const folder = relative(process.cwd(), cluster.dataDir) || '.'
  const rows = cluster.nodes.map(
    ({ nodeId, dataUrl, adminUrl, pid }) => `  ${nodeId}    ${dataUrl}    ${adminUrl}    ${pid}`,
  )
  const object = 'api/v1/buckets/demo/objects/hello.txt'
  return `
Holdfast is ready: ${cluster.nodes.length} node${cluster.nodes.length === 1 ? '' : 's'}, all data is in ${folder}

  node  data API                 admin API and /metrics   pid
${rows.join('\n')}

Credentials of the demo tenant and the owner (also in ${join(folder, 'cluster.json')}): paste them in another terminal

${environmentLines(cluster)
  .map((line) => `  ${line}`)
  .join('\n')}

Copy and paste after them: a bucket, a file up and down

  echo 'Hello from Holdfast' > hello.txt
  ${command} bucket create demo
  ${command} put hello.txt demo/
  ${command} get demo/hello.txt copy.txt

The same file by curl, through ${download?.nodeId}

  TOKEN=$(curl -s -u "$HOLDFAST_ACCESS_KEY_ID:$HOLDFAST_SECRET_KEY" -X POST ${upload?.dataUrl}/api/v1/auth/token | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -H "Authorization: Bearer $TOKEN" ${download?.dataUrl}/${object}

Documentation, in a browser: ${upload?.adminUrl}/docs/

Ctrl-C stops it; the same command starts it again with the same data.
`
}
