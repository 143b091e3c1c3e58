/**
 * The query of Prometheus for each series.
 *
 * Owns: the texts. PURE. Rules: the set is fixed, and nothing that a client of the API sends becomes part of a text; each gives one value for a node, under
 * the name that the node gives itself in `holdfast_build_info`.
 */
import { type Api, APIS, type BySeries, type Result, RESULTS, type SeriesName } from './series.ts'

const STATUSES: Readonly<Record<Result, string>> = { Ok: '[123]..', Refused: '4..', Failed: '5..' }

/** `windowSeconds`: over which rates are computed. Throws TypeError for a job with a quote, a backslash or a line break. */
export function queriesOf(job: string, windowSeconds: number): BySeries<string> {
  if (/["\\\n]/.test(job))
    throw new TypeError('The job of Prometheus must not have a quote, backslash or line break')
  const of = (name: string, more = ''): string => `${name}{job="${job}"${more}}`
  const rate = (name: string, more = ''): string =>
    `sum by (instance) (rate(${of(name, more)}[${windowSeconds}s]))`
  const quantile = (share: number, name: string, more = ''): string =>
    `histogram_quantile(${share}, sum by (instance, le) (rate(${of(name, more)}[${windowSeconds}s])))`
  const mean = (name: string): string => `avg_over_time(${of(name)}[${windowSeconds}s])`
  const most = (name: string): string => `max_over_time(${of(name)}[${windowSeconds}s])`
  const named = (query: string): string =>
    `max by (node) ((${query}) * on (instance) group_left (node) max by (instance, node) (${of('holdfast_build_info')}))`
  const answers = ',api!="admin"'
  const requests = APIS.flatMap((api: Api) =>
    RESULTS.map((result) => {
      const labels = `,api="${api}",code=~"${STATUSES[result]}"`
      return [`${api}${result}`, named(rate('holdfast_http_requests_total', labels))] as const
    }),
  )
  const others: Omit<Record<SeriesName, string>, `${Api}${Result}`> = {
    receivedBytes: rate('holdfast_http_received_bytes_total'),
    sentBytes: rate('holdfast_http_sent_bytes_total'),
    answerP50: quantile(0.5, 'holdfast_http_time_to_first_byte_seconds_bucket', answers),
    answerP99: quantile(0.99, 'holdfast_http_time_to_first_byte_seconds_bucket', answers),
    flushP99: quantile(0.99, 'holdfast_raft_log_fsync_duration_seconds_bucket'),
    commitP99: quantile(0.99, 'holdfast_raft_commit_duration_seconds_bucket'),
    followerLag: `max by (instance) (clamp_min(${of('holdfast_raft_last_log_index')} - on (instance) min by (instance) (${of('holdfast_raft_peer_match_index')}), 0))`,
    unapplied: `${of('holdfast_raft_commit_index')} - on (instance) ${of('holdfast_raft_applied_index')}`,
    diskUsed: `${of('holdfast_blob_disk_total_bytes')} - on (instance) ${of('holdfast_blob_disk_free_bytes')}`,
    diskTotal: of('holdfast_blob_disk_total_bytes'),
    eventLoopP99: `clamp_min(${most('nodejs_eventloop_lag_p99_seconds')} - 0.1, 0)`,
    memory: mean('process_resident_memory_bytes'),
    heap: mean('nodejs_heap_size_used_bytes'),
  }
  const all = Object.entries(others).map(([name, query]) => [name, named(query)] as const)
  return Object.fromEntries([...requests, ...all]) as Record<SeriesName, string>
}
