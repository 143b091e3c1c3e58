/**
 * `holdfast certs init`, `issue` and `show`: the authority of a cluster and the certificates of its nodes.
 *
 * Owns: the printed text. Rule: a key is written into a file of mode 0600 and never shown. The commands contact no node: the
 * operator copies the files to each node.
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
  await writeAndPrint(files, newAuthority(id, { now: Date.now(), days }), {
    json,
    text:
      `${files.certificate} is the CA of cluster ${id}: give it to every node as peer_tls.ca, and the id as cluster.id.\n` +
      `${files.key} signs node certificates: anyone with this key can add a node. Keep it off the nodes.\n`,
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
  await writeAndPrint(files, newNodePair(authority, { nodeId, hosts: host }, { now, days }), {
    json,
    text:
      `Copy both files and ca.pem to node ${nodeId}, where only its user can read the key:\n` +
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

async function writeAndPrint(
  files: PairFiles,
  pair: { readonly certificate: string; readonly key: string },
  { json, text }: { readonly json: boolean | undefined; readonly text: string },
): Promise<void> {
  await writePair(files, pair)
  const view = viewOf(new X509Certificate(pair.certificate), Date.now())
  const object = { certificateFile: files.certificate, keyFile: files.key, certificate: view }
  process.stdout.write(json === true ? `${JSON.stringify(object)}\n` : `${certificateText(view)}\n${text}`)
}

/** Checks an id as the configuration of a node does. */
function checked(name: SettingName & ('cluster.id' | 'node.id'), text: string): string {
  const setting = SETTINGS.find((one) => one.name === name)
  try {
    if (setting !== undefined) parseScalar(setting, text)
    return text
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause
    throw new CommandError(`'${text}' is not a valid ${name}: ${cause.message}`, {
      code: 'wrong_id',
      hint: 'docs/configuration.md describes its form.',
      exitCode: EXIT.usage,
    })
  }
}
