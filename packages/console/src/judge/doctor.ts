/**
 * From what the doctor finds on the members to findings, each once for all members that have it. Pure.
 *
 * Rules: an error is urgent; a warning may be intended and is a notice, unless it is about something that ends or gets worse by itself; a member whose answer is
 * not known is a finding, and never fine, and so is a check that could not be made.
 */
import type { ClusterDoctor } from '../../../client/src/admin.ts'
import { TEXT } from '../words/strings.ts'
import { type Finding, finding, type Level } from './finding.ts'

type Node = ClusterDoctor['nodes'][number]
type Found = Node['findings'][number]
export type Certificate = Node['certificates'][number]

const SAYS = TEXT.finding
const PAGE = 'doctor.html'
const CERTIFICATES_PAGE = 'runbooks/rotate-certificates.html'
const CERTIFICATE_CHECKS = new Set(['peer_tls', 'listener_tls'])
/** A running node never makes them. */
const NOT_BY_ITSELF = new Set(['configuration', 'disk_speed', 'listeners', 'peers', 'clock', 'disks'])
/** Their warnings get worse by themselves. */
const GROWING = new Set(['state_format', 'disk_space', 'audit_log'])

/** `silent`: members that are known not to answer, which is a finding already. */
export function ofDoctor({ nodes }: ClusterDoctor, silent: ReadonlySet<string>): readonly Finding[] {
  const unknown = nodes.flatMap(({ nodeId, answer }) => {
    if (answer === 'known' || silent.has(nodeId)) return []
    return [finding('attention', SAYS.notExamined(nodeId, answer), 'cluster', PAGE)]
  })
  const truncated = nodes
    .filter(({ isTruncated }) => isTruncated)
    .map(({ nodeId }) => finding('attention', SAYS.moreFound(nodeId), 'cluster', PAGE))
  const left = nodes.flatMap(({ nodeId, notChecked }) => {
    const unmade = notChecked.filter((check) => !NOT_BY_ITSELF.has(check))
    if (unmade.length === 0) return []
    return [finding('attention', SAYS.notChecked(nodeId, unmade.join(', ')), 'cluster', PAGE)]
  })
  return [...unknown, ...truncated, ...left, ...merged(nodes)]
}

/** What all nodes find, such as a schedule without a good backup, is one finding. */
function merged(nodes: readonly Node[]): readonly Finding[] {
  const all = nodes.flatMap((node) => node.findings.filter(isShown).map((found) => ({ node, found })))
  const names = new Map<string, string[]>()
  for (const { node, found } of all) {
    const key = keyOf(found)
    names.set(key, [...(names.get(key) ?? []), node.nodeId])
  }
  const first = all.filter(
    ({ found }, at) => all.findIndex((one) => keyOf(one.found) === keyOf(found)) === at,
  )
  return first.map(({ node, found }) => {
    const title = `${(names.get(keyOf(found)) ?? []).join(', ')}: ${found.found}`
    const page = CERTIFICATE_CHECKS.has(found.check) ? CERTIFICATES_PAGE : PAGE
    const screen = found.check === 'backups' ? 'backups' : 'cluster'
    return finding(levelOf(node, found), [title, found.action ?? ''], screen, page)
  })
}

const keyOf = ({ check, severity, found }: Found): string => `${severity} ${check} ${found}`

/** Failed and paused schedules are judged by the schedules themselves. */
const isShown = ({ check, severity }: Found): boolean =>
  severity === 'error' || (severity === 'warning' && check !== 'backups')

function levelOf({ certificates }: Node, { check, severity }: Found): Level {
  if (severity === 'error') return 'danger'
  const prefixes = check === 'peer_tls' ? ['peer_tls.'] : ['data_tls.', 'admin_tls.']
  const ends =
    CERTIFICATE_CHECKS.has(check) &&
    certificates.some(
      ({ setting, term }) => term !== 'valid' && prefixes.some((prefix) => setting.startsWith(prefix)),
    )
  return ends || GROWING.has(check) ? 'attention' : 'notice'
}

/** The one that ends first; null: the node has none, or is not known. */
export function firstToEnd(certificates: readonly Certificate[]): Certificate | null {
  return certificates.toSorted((a, b) => (a.notAfter < b.notAfter ? -1 : 1))[0] ?? null
}
