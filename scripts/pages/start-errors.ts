/**
 * The reference page of all errors that keep a node, or an offline command, from starting.
 *
 * Owns: what each code says and what to do. Run as a program it writes docs/start-errors.md.
 * Rule: test/house/documents.test.ts compares the codes with those in the sources, in both directions.
 */
import { writeFileSync } from 'node:fs'

interface StartErrorHelp {
  /** What is wrong, as the message says it. */
  readonly meaning: string
  readonly action: string
}

const SAME_AS = (code: string): string => `As for \`${code}\`.`
const RECOVERY: StartErrorHelp = {
  meaning: '`holdfast recover` refuses a plan or a report on this node.',
  action: 'Do what its hint says; see [the runbook](../deploy/runbooks/lost-quorum.md).',
}
const SKIPPING: StartErrorHelp = {
  meaning: '`holdfast recover skip-entry` refuses a plan on this node.',
  action: 'Do what its hint says; see [the runbook](../deploy/runbooks/skip-entry.md).',
}
const FOREIGN: StartErrorHelp = {
  meaning: 'The data directory belongs to another node or another cluster.',
  action: 'Point the node to its own directory.',
}
const WRONG_KEY: StartErrorHelp = {
  meaning: 'The master key is not the one of this data, or of this cluster.',
  action: 'Give the key file that the cluster was made with.',
}

export const START_ERRORS: Readonly<Record<string, StartErrorHelp>> = {
  invalid_config: {
    meaning: 'A setting is unknown, missing or wrong.',
    action: 'Correct the lines that it names; `holdfast config check` reports the same.',
  },
  address_in_use: {
    meaning: 'Another program listens on that address.',
    action: 'Stop it, or use another port; for `npm start`: `--base-port`.',
  },
  listen_failed: {
    meaning: 'This machine cannot listen on that address.',
    action: 'Use an address of this machine, and a port that this user may use.',
  },
  peer_listen_failed: {
    meaning: 'This machine cannot listen on its peer address.',
    action: SAME_AS('listen_failed'),
  },
  invalid_peer_address: {
    meaning: 'A peer address is not `host:port`.',
    action: 'Correct `cluster.members`.',
  },
  peer_tls_required: {
    meaning: 'A peer on another machine would be spoken to over plain TCP.',
    action: 'Set `peer_tls`, or use 127.0.0.1 for a trial.',
  },
  peer_tls_unreadable: {
    meaning: 'A file of `peer_tls` cannot be read.',
    action: 'Check the paths and the rights.',
  },
  peer_tls_invalid: {
    meaning: 'The files of `peer_tls` are no certificate and key, or do not belong together.',
    action: 'Make a pair with `holdfast certs issue`.',
  },
  peer_certificate_wrong_name: {
    meaning: 'The certificate does not name this node of this cluster.',
    action: '`holdfast certs show` prints the name in it; `holdfast certs issue --node <node id>` makes one.',
  },
  listener_tls_unreadable: {
    meaning: 'A file of `data_tls` or `admin_tls` cannot be read.',
    action: SAME_AS('peer_tls_unreadable'),
  },
  listener_tls_invalid: {
    meaning: 'The files of `data_tls` or `admin_tls` are no certificate and key, or do not belong together.',
    action: SAME_AS('peer_tls_invalid'),
  },
  master_key_missing: {
    meaning: 'The key file does not exist.',
    action: 'Copy the file of this cluster; for a new cluster: `holdfast master-key create`.',
  },
  master_key_malformed: {
    meaning: 'The key file holds no key.',
    action: 'Copy the file of this cluster again.',
  },
  master_key_exposed: { meaning: 'Other users can read the key file.', action: '`chmod 600` it.' },
  master_key_exists: {
    meaning: '`holdfast master-key create` does not overwrite a file.',
    action: 'Use the key that is there, or another path.',
  },
  master_key_unwritable: {
    meaning: 'The key file cannot be written.',
    action: 'Use a folder that this user may write to.',
  },
  master_key_needed: {
    meaning: 'Data is still sealed under a key that was taken out of the file.',
    action: 'Put its line back; see [the runbook](../deploy/runbooks/rotate-master-key.md).',
  },
  wrong_fingerprint: WRONG_KEY,
  wrong_master_key: WRONG_KEY,
  unknown_member: {
    meaning: 'This node is not in `cluster.members`.',
    action: 'Add it before the first start, or start it with `--join`.',
  },
  data_not_empty: {
    meaning: '`--join` on a data directory that belongs to a member, or that holds a foreign file.',
    action: 'Start without `--join`, or with an empty directory. A member that left needs a new name.',
  },
  members_unreadable: {
    meaning: '`members.json` exists and the system does not give it back: rights, or a disk that fails.',
    action: 'Let this user read it; on a failing disk replace the node.',
  },
  damaged_members: {
    meaning: '`members.json` cannot be understood.',
    action: 'Restore it from a backup, or let the machine join under another name.',
  },
  damaged_recovery: {
    meaning: '`recovery.json` cannot be understood.',
    action: SAME_AS('damaged_members'),
  },
  damaged_skips: {
    meaning: '`skipped-entries.json` cannot be understood.',
    action: 'Copy it from another node.',
  },
  apply_failed: {
    meaning: 'An entry of the log cannot be applied; the message names it.',
    action:
      'If other nodes go on, start their version. If all stop there, keep all directories; see [the runbook](../deploy/runbooks/skip-entry.md).',
  },
  skip_ordered: SKIPPING,
  already_applied: SKIPPING,
  states_differ: SKIPPING,
  not_comparable: SKIPPING,
  report_unusable: SKIPPING,
  too_many_skips: SKIPPING,
  plan_pending: RECOVERY,
  plan_outdated: RECOVERY,
  node_changed: RECOVERY,
  paper_unreadable: RECOVERY,
  seal_broken: RECOVERY,
  audit_unwritable: {
    meaning: '`holdfast recover trust-disk` cannot keep what the audit log is to say of it.',
    action: 'Let this user write to the data directory, and make room on its disk.',
  },
  stale_epoch: {
    meaning: 'The cluster was brought back from a lost quorum without this node.',
    action:
      'Keep its data directory aside, and let the machine join under another name; see [the runbook](../deploy/runbooks/lost-quorum.md).',
  },
  foreign_cluster: FOREIGN,
  foreign_node: FOREIGN,
  log_foreign: FOREIGN,
  data_dir_in_use: { meaning: 'Another process uses the data directory.', action: 'Stop it.' },
  data_dir_unusable: {
    meaning: 'The data directory cannot be made, read or written.',
    action: 'Is the disk mounted, and has this user the rights?',
  },
  identity_missing: {
    meaning: 'There is data, but no `identity.json` that says whose it is.',
    action: 'Restore `identity.json` from a backup, or move the whole directory away.',
  },
  damaged_identity: {
    meaning: '`identity.json` cannot be understood.',
    action: SAME_AS('identity_missing'),
  },
  log_damaged: {
    meaning: 'Bytes of the Raft log changed on disk.',
    action: 'Keep a copy; restore that very file, never an older version of it. The other nodes go on.',
  },
  log_unreadable: {
    meaning: 'Entries of the Raft log could not be read back while the node ran.',
    action:
      'Start it again: it asks the others for them. Look at its disk; see [the runbook](../deploy/runbooks/unreadable-disk.md).',
  },
  log_missing: {
    meaning: 'The log was lost, or the state was restored alone.',
    action: 'Bring both back as they were; never start on half of them.',
  },
  state_unusable: {
    meaning: 'The files of the state cannot be reached: rights, or a full disk.',
    action: 'Let this user read and write `state/`, and make room.',
  },
  state_locked: { meaning: 'Another process has the state open.', action: 'Stop it.' },
  state_format_foreign: {
    meaning: 'Another build wrote the state.',
    action: 'Start that build; or, while the other nodes run, move `state/` away.',
  },
  history_contradicted: {
    meaning:
      'The log of this node and that of the leader differ where both count as committed: a disk went back.',
    action: 'Keep the directory and stop all nodes; see [the runbook](../deploy/runbooks/disk-went-back.md).',
  },
  cannot_mend: {
    meaning: 'Log or state are damaged, and the group has no other node to repair them from.',
    action: 'Restore the data directory from a backup.',
  },
  feature_level_too_high: {
    meaning: 'The state was raised to a feature level that this version does not know.',
    action: 'Start that version, or a newer one; see [upgrades](../deploy/runbooks/rolling-upgrade.md).',
  },
}

const INTRODUCTION = `# Errors that keep a node from starting

A node that cannot start prints one of these codes with its message and what to do, and changes nothing on disk. The offline commands of
\`holdfast recover\` and \`holdfast master-key\` use the same codes. This page is made from
[\`start-errors.ts\`](../scripts/pages/start-errors.ts) by \`node scripts/pages/start-errors.ts\`; do not edit it. Errors of the APIs are in
[errors.md](errors.md).

\`holdfast doctor --config n1.yaml\`, run as the user of the node, finds most of these before a start ([what it looks at](doctor.md)).

| code | what it means | what to do |
|---|---|---|
`

/** One row for each code, in the order of a start. */
export function startErrorsPage(): string {
  const rows = Object.entries(START_ERRORS).map(
    ([code, { meaning, action }]) => `| \`${code}\` | ${meaning} | ${action} |\n`,
  )
  return INTRODUCTION + rows.join('')
}

if (import.meta.main) writeFileSync(new URL('../../docs/start-errors.md', import.meta.url), startErrorsPage())
