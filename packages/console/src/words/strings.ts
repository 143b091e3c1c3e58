/**
 * Every text that the console shows, in English, in this folder.
 *
 * Rules: words are those of docs/glossary.md; a text says what is, and what to do; names of operations and codes stay as the API spells them.
 */
import { ACCESS_TEST } from './access-test-strings.ts'
import { API, REQUESTS } from './api-strings.ts'
import { AUDIT } from './audit-strings.ts'
import { BACKUPS, ENCRYPTION, MASTER_KEY } from './backup-strings.ts'
import { PLACEMENT } from './placement-strings.ts'
import { POLICIES } from './policy-strings.ts'
import { LIFECYCLE, REPLICATION, RULES } from './rule-strings.ts'
import { ACCOUNT, KEY_LOG_IN, LOG_IN } from './log-in-strings.ts'
import { OBJECTS } from './object-strings.ts'
import { TENANTS } from './tenant-strings.ts'
import { CORS, WEBHOOKS } from './webhook-strings.ts'

export const TEXT = {
  product: 'Holdfast',
  skip: 'To the content',
  sections: 'Sections',
  nav: {
    health: 'Health',
    charts: 'Charts',
    cluster: 'Cluster',
    operations: 'Operations',
    tenants: 'Tenants',
    objects: 'Objects',
    backups: 'Backups',
    audit: 'Audit',
    bucket: 'Rules of a bucket',
    api: 'API',
    docs: 'Documentation',
  },
  theme: { label: 'Theme', auto: 'As the system', light: 'Light', dark: 'Dark' },
  logOut: 'Log out',
  logOutEverywhere: 'Log out everywhere',
  loading: 'Loading',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  never: 'never',
  none: 'none',
  yes: 'Yes',
  no: 'No',
  unknown: 'unknown',
  noLimit: 'no limit',
  more: 'Show more',
  refresh: 'Refresh',
  learnMore: 'What to do',
  requestId: (id: string) => `Request ${id}`,

  login: LOG_IN,

  account: ACCOUNT,

  keyLogin: KEY_LOG_IN,

  fault: {
    title: 'This part could not be loaded',
    refused: 'This was not done',
    denied: 'The role of this token does not allow this part. An owner can make a token that does.',
    unreachable: 'This node does not answer. Check that it runs, then refresh.',
    stale: 'Not up to date: the last request failed.',
  },

  rights: {
    denied: (role: string) => `The role ${role} does not allow this.`,
    caller: (name: string, role: string) => (name === role ? role : `${name}, ${role}`),
  },

  requests: REQUESTS,

  api: API,

  build: {
    newer: (served: string, own: string) =>
      `This node runs ${served}, which is newer than this page (${own}).`,
    older: (served: string, own: string) =>
      `This node runs ${served}, which is older than this page (${own}).`,
    other: (served: string) => `This node runs a different build of ${served} than this page.`,
    continues:
      'The page continues to work. A reload shows the console of this node; it ends uploads, and forgets the token, the access key and what is typed into forms.',
    reload: 'Reload the page',
  },

  live: {
    on: 'Live',
    off: 'Connecting again',
  },

  health: {
    title: 'Health',
    safe: 'Data is safe',
    safeWhy: (tolerance: number, voters: number) =>
      tolerance === 0
        ? `No node owes a copy. With ${voters} ${voters === 1 ? 'voter' : 'voters'}, no node may fail without a stop of writes.`
        : `No node owes a copy, and ${tolerance} of ${voters} voters may fail without a stop.`,
    attention: 'Data is safe, with something to look at',
    danger: 'Data needs attention now',
    unknown: 'The state of the data is not known',
    unknownWhy: 'Parts of the cluster did not answer.',
    findings: 'Findings',
    lastBackup: 'Last good backup by a schedule',
    notScheduled: 'none is scheduled',
    replace: (node: string) => `Replace ${node}`,
    now: 'Now',
    soon: 'Soon',
    notice: 'Notice',
    facts: 'At a glance',
    voters: 'Voters',
    tolerance: 'May fail',
    leader: 'Leader',
    owed: 'Owed copies',
    singles: 'Chunks with one copy',
    ofFirst: (found: string, chunks: string) => `${found} of the first ${chunks}`,
    stored: 'Sealed bytes held',
    running: 'Operations running',
    level: 'Feature level',
  },

  finding: {
    noMajority: [
      'No majority of voters answers',
      'Writes and fresh reads stop until a majority runs. Start the nodes that are down; if they are gone for good, follow the runbook.',
    ],
    unreachable: (node: string) =>
      [
        `${node} does not answer`,
        'Look at its machine and its log, and start it. If it never comes back, replace it.',
      ] as const,
    noSpare: (nodes: readonly string[]) =>
      [
        `${nodes.join(', ')} ${nodes.length === 1 ? 'does' : 'do'} not answer: one more failure stops writes`,
        'Look at the machine and its log, and start it. If it never comes back, replace it.',
      ] as const,
    fewVoters: (voters: number) =>
      [
        `The cluster has ${voters} ${voters === 1 ? 'voter' : 'voters'}`,
        'Three voters or more survive the failure of one. Join another node.',
      ] as const,
    condition: (node: string, code: string) => `${node}: ${code}`,
    stateDiffers: (node: string) =>
      [
        `The state of ${node} differs from the others`,
        'The node replaces its state by itself. If this stays for minutes, look at its log.',
      ] as const,
    singleCopies: (count: string) =>
      [
        `${count} chunks have one copy only`,
        'Their other copies are being made. Keep all nodes running until this is zero.',
      ] as const,
    owed: (count: string) =>
      [`${count} copies are owed`, 'Repair makes them by itself. Watch the rate under Operations.'] as const,
    singleZones: (count: string) =>
      [`${count} chunks lie in one zone only`, 'A rebalance moves copies into other zones.'] as const,
    diskFilling: (node: string, free: string) =>
      [
        `The disk of ${node} takes no new copies (${free} free)`,
        'Delete data, add disk space, or join a node.',
      ] as const,
    diskFull: (node: string, free: string) =>
      [
        `The disk of ${node} is full (${free} free)`,
        'Writes that need room are refused there. Free space now; deletions are still served.',
      ] as const,
    diskSuspect: (node: string) =>
      [`A disk of ${node} gives errors`, 'Check the disk and plan its replacement.'] as const,
    directoriesLost: (node: string, count: number) =>
      [
        `${node} has lost ${count} data ${count === 1 ? 'directory' : 'directories'}`,
        'Its copies are made again elsewhere. Replace the disk.',
      ] as const,
    halted: (reason: string) =>
      ['Collection is halted', `${reason}. Find the cause, then resume it with a reason.`] as const,
    lost: (node: string, count: number) =>
      [
        `The last scrub of ${node} found ${count} bad ${count === 1 ? 'copy' : 'copies'}`,
        'They are made again from good ones. Check the disk when this repeats.',
      ] as const,
    recount: (count: number) =>
      [
        `The last recount found ${count} ${count === 1 ? 'difference' : 'differences'}`,
        'Derived counters were wrong and are repaired. Report this with the log of the node.',
      ] as const,
    versions: (list: string) =>
      [
        `Members run different versions: ${list}`,
        'Finish the rolling upgrade; the feature level rises when all members are new.',
      ] as const,
    backupFails: (schedule: string, failures: number, error: string | null) =>
      [
        `Backups of the schedule ${schedule} fail, ${failures} in a row`,
        error ?? 'Look at the target and at the log of the node on duty.',
      ] as const,
    failed: (type: string, error: string) => [`Operation ${type} failed`, error] as const,
    blocked: (type: string, message: string) => [`Operation ${type} waits`, message] as const,
    notExamined: (node: string, answer: 'unreachable' | 'unsupported') =>
      [
        `What the doctor finds at ${node} is not known`,
        answer === 'unsupported'
          ? 'Its version does not answer this question. Upgrade it, or run holdfast doctor on its machine.'
          : 'It did not answer in time. Run holdfast doctor on its machine.',
      ] as const,
    notChecked: (node: string, checks: string) =>
      [
        `${node} could not check: ${checks}`,
        'Run holdfast doctor on its machine, and look at the log of the node.',
      ] as const,
    moreFound: (node: string) =>
      [`More was found at ${node} than is shown`, 'Run holdfast doctor on its machine.'] as const,
    noRepair: (node: string) =>
      [`${node} does not report its copies`, 'Its state of repair is not known until it answers.'] as const,
  },

  cluster: {
    title: 'Cluster',
    join: 'Join a node',
    transfer: 'Transfer leadership',
    departed: 'Former members',
    leader: 'Leader',
    voter: 'Voter',
    learner: 'Learner',
    none: 'No vote',
    zone: 'Zone',
    version: 'Version',
    lag: 'Lag',
    lagEntries: (entries: string) => `${entries} entries`,
    current: 'none',
    contact: 'Last contact',
    certificates: 'Certificates',
    certificateEnds: (setting: string, day: string) => `${setting} until ${day}`,
    term: {
      valid: 'valid',
      endsSoon: 'A certificate ends soon',
      expired: 'A certificate has expired',
      notYetValid: 'A certificate is not valid yet',
    },
    copies: 'Copies',
    lastCopies: (count: string) => `${count} of them the last one`,
    disk: 'Disk',
    address: 'Address',
    weight: 'Weight',
    answers: 'answers',
    silent: 'does not answer',
    actions: (node: string) => `Change ${node}`,
    how: { lost: 'lost', removed: 'removed' },
  },

  wizard: {
    plan: 'Show the plan',
    planTitle: 'What will happen',
    run: 'Do it',
    back: 'Back',
    cancel: 'Cancel',
    done: 'Close',
    reason: 'Reason',
    reasonHelp: 'Stands in the audit log.',
    confirm: (name: string) => `Type ${name} to confirm`,
    confirmHelp: 'This cannot be undone.',
    blockers: 'What stands in the way',
    blocked: 'Resolve what stands in the way, then show the plan again.',
    warnings: 'Know before you continue',
    tolerance: 'May fail',
    moves: (copies: string, bytes: string) => `${copies} copies (${bytes}) are made elsewhere first.`,
    noMoves: 'No copies need to move.',
    newcomer: (node: string, version: string) => `${node} answers and runs ${version}.`,
    certificate: (fingerprint: string) => `Its certificate has the fingerprint ${fingerprint}.`,
    noCertificate: 'It has no certificate: the nodes communicate without TLS.',
    stays: (node: string) =>
      `${node} becomes a learner without copies. Remove it next, then stop its process.`,
    target: (node: string) => `${node} becomes the leader.`,
    follow: 'It continues when this window is closed: see Operations.',
    succeeded: 'Finished.',
  },

  action: {
    join: {
      name: 'Join a node',
      about: 'A waiting node (started with --join) copies the state, keeps up for a while and gets a vote.',
    },
    demote: {
      name: 'Demote',
      about: 'Takes the vote of the member and moves its copies away. It stays a member.',
    },
    lost: {
      name: 'Declare lost',
      about:
        'For a member that never comes back: it loses its vote and its name, and its copies are made again.',
    },
    remove: { name: 'Remove', about: 'Removes a member that was demoted and drained.' },
    replace: {
      name: 'Replace',
      about: 'Puts a waiting node into the place of this member, also of one that is dead.',
    },
    transfer: {
      name: 'Transfer leadership',
      about: 'The leader hands its role to another voter. Clients notice a pause of less than a second.',
    },
    node: 'Name of the node',
    peer: 'Peer address',
    peerHelp: 'host:port where it listens for nodes',
    zone: 'Zone',
    zoneHelp: 'What fails together: a rack, a room',
    fingerprint: 'Fingerprint of its certificate',
    fingerprintHelp:
      'Optional: a node with another one is refused. `holdfast certs show` prints it on the machine of the node.',
    startFirst: 'First start the new node on its machine, with an empty data directory:',
    startLine: 'holdfast server --config FILE --join',
    target: 'New leader',
    anyTarget: 'The best follower',
  },

  operations: {
    title: 'Operations',
    none: 'No operation has run yet.',
    running: 'Running',
    ended: 'History',
    type: 'Operation',
    about: 'About',
    status: 'Status',
    by: 'Requested by',
    started: 'Started',
    took: 'Took',
    progress: 'Progress',
    eta: (time: string) => `about ${time} left`,
    pause: 'Pause',
    resume: 'Resume',
    cancel: 'Cancel',
    cancelAbout:
      'Ends the operation for good. What is done stays done; to continue it later, pause it instead.',
    cancelPlan: (tasks: string) => `${tasks} planned copies that are not made yet are cancelled.`,
    copies: (done: string, total: string) => `${done} of ${total} copies`,
    repair: 'Repair and scrub',
    rate: 'Rate of repair',
    pending: 'Owed copies',
    scrub: 'Scrub',
    lastFull: 'Last full scrub',
    bad: 'Bad copies',
    startScrub: 'Scrub now',
    startRecount: 'Recount',
    startRebalance: 'Rebalance',
    rebalanceAbout:
      'Moves the copies of a tenant, or of one of its buckets, to the nodes where they should be.',
    rebalancePlan:
      'Every copy is compared with its place. A copy that moves is written and read back at its new node before it is removed from the old one.',
    tenant: 'Tenant',
    bucket: 'Bucket',
    bucketHelp: 'Empty: every bucket of the tenant',
    rateMax: 'MiB per second at most',
    rateHelp: 'Of the whole cluster; empty: no limit of its own',
    node: 'Node',
    scrubPlan: 'Every node reads all of its copies, beside requests and at a bounded rate.',
    recountPlan: 'Every node counts its rows again. A difference halts the collection of garbage.',
    scrubAbout: 'Reads every copy back and makes bad ones again.',
    recountAbout: 'Computes all derived counters again from the primary rows.',
  },

  audit: AUDIT,

  accessTest: ACCESS_TEST,
  tenants: TENANTS,
  objects: OBJECTS,
  placement: PLACEMENT,
  policies: POLICIES,
  rules: RULES,
  lifecycle: LIFECYCLE,
  replication: REPLICATION,
  webhooks: WEBHOOKS,
  cors: CORS,

  backups: BACKUPS,
  encryption: ENCRYPTION,

  masterKey: MASTER_KEY,

  status: {
    queued: 'Queued',
    running: 'Running',
    paused: 'Paused',
    succeeded: 'Succeeded',
    failed: 'Failed',
    cancelled: 'Cancelled',
    joining: 'Joining',
    active: 'Active',
    draining: 'Draining',
    drained: 'Drained',
    lost: 'Lost',
    disabled: 'Disabled',
    deleting: 'Deleting',
    deleted: 'Deleted',
    revoked: 'Revoked',
  },
} as const
