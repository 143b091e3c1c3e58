/**
 * The page of the doctor, generated from the list of its checks.
 *
 * Owns: the text around the list. Run as a program it writes docs/doctor.md.
 * Rule: checks are described only in src/doctor/check-list.ts, next to their names.
 */
import { writeFileSync } from 'node:fs'
import { CHECKS } from '../../src/doctor/check-list.ts'

const INTRODUCTION = `# What the doctor checks

\`\`\`
holdfast doctor --config n1.yaml             as the user of the node, while it runs or while it is stopped
holdfast doctor --config n1.yaml --json      one JSON object: status, node, findings, notChecked
\`\`\`

Each line is a finding: \`ok\`, \`warning\` or \`error\`, the name of the check, what was found; where it is not \`ok\` also what was expected and what to do.
It ends with 0 when there is no error and with 1 when there is one. With only warnings it ends with 0: what they report may be intended.
For what refuses a start and nothing else: \`holdfast config check\`; for the settings with their values: \`holdfast config print\`
([configuration](configuration.md)). This page is made from [\`check-list.ts\`](../src/doctor/check-list.ts) by
\`node scripts/pages/doctor.ts\`; do not edit it.

It changes nothing and opens no database. It queries a running node through the socket in its data directory, and reads the files of a stopped one. It leaves three
traces: a file \`.doctor-….tmp\` of at most 200 KiB in the data directory, for up to two seconds, with which the speed of the disk is measured; a
line \`peer request refused\` in the log of each other node, because the doctor claims no identity of a data directory and is refused at the end; and with a stopped node its
three addresses, each in use for a moment.

| check | looks at | error | warning |
|---|---|---|---|
`

const END = `
Checks that are impossible because of earlier findings are in the last lines as \`not checked\`: without a configuration only the machine is
checked, without a data directory nothing in it, without a peer that answers no clock, and without a running node neither the audit log nor backups.

## All members

\`\`\`
holdfast cluster doctor                      asked at any node, with an admin token of a viewer
\`\`\`

It prints what the doctor finds on each member, until when its certificates are valid, and which checks it did not make; with \`--json\` as \`GET /admin/api/v1/cluster/doctor\` answers it, which the
screens Health and Cluster of [the console](guide/console.md) show as well. A running node makes all checks but \`configuration\`, \`disk_speed\`, \`listeners\`, \`peers\`, \`clock\` and \`disks\`: it writes nothing, and asks no other node. A member that does not answer
within three seconds is \`unreachable\`, one of a version that does not know the question \`unsupported\`: nothing is known of either, and the command ends with 1, as it does with an error. Dates are those of the files that the configuration names
([record 112](adr/0112-findings-of-all-members.md)).

## What it cannot check

Whether the master key of a stopped node with a new, empty data directory is that of the cluster (the node finds out at its start and stops with
\`wrong_master_key\`); damage inside the log, the state or the copies, which the node itself finds ([RELIABILITY.md](../RELIABILITY.md)); limits of a
service manager while the node is stopped, because it then sees its own limits.
`

const cell = (text: string): string => (text === '' ? '–' : text)

export function doctorPage(): string {
  const rows = CHECKS.map(
    (check) => `| \`${check.id}\` | ${check.looksAt} | ${cell(check.error)} | ${cell(check.warning)} |\n`,
  )
  return INTRODUCTION + rows.join('') + END
}

if (import.meta.main) writeFileSync(new URL('../../docs/doctor.md', import.meta.url), doctorPage())
