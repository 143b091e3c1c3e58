/**
 * The texts of the log-in and of the account, in English, under the rules of strings.ts.
 */
export const LOG_IN = {
  title: 'Log in',
  intro: 'Use an admin token of this cluster.',
  token: 'Admin token',
  help: 'The token stays in the memory of this tab: it is not stored, and a reload of the page asks for it again.',
  submit: 'Log in',
  byProvider: (name: string) => `Log in with ${name}`,
  orElse: 'Or with a secret that you have:',
  sessionEnded: 'Your session has ended: log in again.',
  byKey: 'Log in with an access key',
  byToken: 'Log in with an admin token',
  refused: 'This token is wrong, expired or revoked.',
  empty: 'This is not an admin token: one begins with "svcadm_"; `holdfast admin-token create` creates one.',
  ended: 'You were logged out after 30 minutes without input.',
  expired: 'The token is expired or revoked: log in with another one.',
} as const

export const KEY_LOG_IN = {
  intro: 'Use an access key of a tenant, to see and change its objects.',
  id: 'Access key id',
  secret: 'Secret key',
  help: 'Both stay in the memory of this tab: they are not stored, and a reload of the page asks for them again.',
  refused: 'This access key is wrong, expired or revoked.',
  empty: 'Give the id and the secret of an access key, without spaces.',
  off: 'Access keys cannot be used here: listeners.console_data is false on this node.',
  ended: 'The access key is expired or revoked: log in with another one.',
} as const

export const ACCOUNT = {
  title: 'Who is logged in',
  name: 'Name',
  role: 'Role',
  tenant: 'Tenant',
  allTenants: 'all',
  id: 'Id in the audit log',
  endsAt: 'Ends',
} as const
