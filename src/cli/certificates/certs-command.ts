/**
 * `holdfast certs init`, `issue` and `show`: the authority of a cluster and the certificates of its nodes.
 *
 * Owns: what is printed. Rule: a key is written into a file of mode 0600 and shown nowhere. No node is asked and none is
 * told: whoever runs a node copies its files there.
 */
import { randomBytes, X509Certificate } from 'node:crypto'
import { parseScalar, ValueError } from '../../config/parse-value.ts'
import { SETTINGS, type SettingName } from '../../config/settings.ts'
import { newAuthority, newNodePair, readAuthority } from './authority.ts'
import { type PairFiles, pairFiles, readPair, readPem, writePair } from './certificate-files.ts'
import { certificateText, certificateViews, viewOf } from './certificate-view.ts'
import { CommandError, EXIT } from '../base/exit.ts'

export interface InitCertsOptions {
  readonly dir: string
  readonly clusterId?: string
  readonly days: number
  readonly json?: boolean
}

export interface IssueCertOptions {
  readonly dir: string
  readonly node: string
  readonly host: readonly string[]
  readonly out?: string
  readonly days: number
  readonly json?: boolean
}

const AUTHORITY_FILES = 'ca'

export async function initCerts({ dir, clusterId, days, json }: InitCertsOptions): Promise<number> {
  const id = checked('cluster.id', clusterId ?? randomBytes(16).toString('hex'))
  const files = pairFiles(dir, AUTHORITY_FILES)
  await told(files, newAuthority(id, { now: Date.now(), days }), {
    json,
    text:
      `${files.certificate} is the CA of cluster ${id}: give it to every node as peer_tls.ca, and the id as cluster.id.\n` +
      `${files.key} makes nodes: whoever has it can become one. Keep it away from them.\n`,
  })
  return EXIT.done
}

export async function issueCert({
  dir,
  node,
  host,
  out = dir,
  days,
  json,
}: IssueCertOptions): Promise<number> {
  const nodeId = checked('node.id', node)
  const now = Date.now()
  const authority = readAuthority(await readPair(pairFiles(dir, AUTHORITY_FILES)), now)
  const files = pairFiles(out, nodeId)
  await told(files, newNodePair(authority, { nodeId, hosts: host }, { now, days }), {
    json,
    text:
      `Put both files and ca.pem on node ${nodeId}, where its user alone can read the key:\n` +
      `peer_tls: { ca: ca.pem, cert: ${nodeId}.pem, key: ${nodeId}.key }\n`,
  })
  return EXIT.done
}

export async function showCerts(
  file: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const views = certificateViews(await readPem(file), file, Date.now())
  process.stdout.write(
    json ? `${JSON.stringify({ certificates: views })}\n` : views.map(certificateText).join('\n'),
  )
  return EXIT.done
}

async function told(
  files: PairFiles,
  pair: { readonly certificate: string; readonly key: string },
  { json, text }: { readonly json: boolean | undefined; readonly text: string },
): Promise<void> {
  await writePair(files, pair)
  const view = viewOf(new X509Certificate(pair.certificate), Date.now())
  const object = { certificateFile: files.certificate, keyFile: files.key, certificate: view }
  process.stdout.write(json === true ? `${JSON.stringify(object)}\n` : `${certificateText(view)}\n${text}`)
}

/** As the configuration of a node would take it. */
function checked(name: SettingName & ('cluster.id' | 'node.id'), text: string): string {
  const setting = SETTINGS.find((one) => one.name === name)
  try {
    if (setting !== undefined) parseScalar(setting, text)
    return text
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause
    throw new CommandError(`'${text}' cannot be a ${name}: ${cause.message}`, {
      code: 'wrong_id',
      hint: 'docs/configuration.md says what one looks like.',
      exitCode: EXIT.usage,
    })
  }
}
