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
  missing: (nodes: string) => `No answer from ${nodes}: not included`,
  empty: 'Nothing to show: nothing was measured in this time, or nothing has been recorded yet.',
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
      title: 'Time to the first byte, data and S3',
      lines: { p50: 'Median', p99: '99th percentile' },
    },
    bodies: { title: 'Bytes of bodies', lines: { received: 'Received', sent: 'Sent' } },
    log: { title: 'Writes of the log, 99th percentile', lines: { flush: 'Flush', commit: 'Commit' } },
    lag: { title: 'Entries behind', lines: { follower: 'Slowest follower', unapplied: 'Not applied yet' } },
    disk: { title: 'Disks of the blobs', lines: { used: 'Used', total: 'Size' } },
    loop: { title: 'Event loop delay', lines: { loop: '99th percentile' } },
    memory: { title: 'Memory', lines: { memory: 'Process', heap: 'JavaScript heap' } },
  },
} as const
