/**
 * The texts of the screen of charts, in English, under the rules of strings.ts.
 */
export const CHART_TEXTS = {
  range: 'Time',
  ranges: { hour: 'Last hour', day: 'Last day', week: 'Last week', month: 'Last month' },
  node: 'Nodes',
  all: 'All together',
  onlyHour:
    'Nodes keep the last hour. With metrics.prometheus_url in the configuration of this node, days and weeks are shown too.',
  missing: (nodes: string) => `Without ${nodes}: no answer`,
  empty: 'Nothing to show: nothing was measured in this time, or no figures were noted yet.',
  unknown: 'not known',
  asTable: 'As a table',
  tableOf: (title: string) => `As a table: ${title}`,
  time: 'Time',
  at: (time: string, figures: string) => `${time}: ${figures}`,
  figure: (name: string, value: string) => `${name} ${value}`,
  perSecond: (value: string) => `${value}/s`,
  keys: 'Arrow keys move through time.',
  charts: {
    requests: { title: 'Requests by API', lines: { native: 'Data', s3: 'S3', admin: 'Admin' } },
    results: { title: 'Requests by result', lines: { ok: 'Served', refused: 'Refused', failed: 'Failed' } },
    answers: {
      title: 'Time to the first byte of data and S3',
      lines: { p50: 'Half of them', p99: '99 of 100' },
    },
    bodies: { title: 'Bytes of bodies', lines: { received: 'Received', sent: 'Sent' } },
    log: { title: 'Writes of the log, 99 of 100', lines: { flush: 'Flush', commit: 'Commit' } },
    lag: { title: 'Entries behind', lines: { follower: 'Slowest follower', unapplied: 'Not applied yet' } },
    disk: { title: 'Disks of the blobs', lines: { used: 'Used', total: 'Size' } },
    loop: { title: 'Lateness of the event loop', lines: { loop: '99 of 100' } },
    memory: { title: 'Memory', lines: { memory: 'Process', heap: 'JavaScript heap' } },
  },
} as const
