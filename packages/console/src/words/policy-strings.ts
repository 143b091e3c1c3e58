/**
 * The texts of policies of buckets, in English, under the rules of strings.ts.
 */
export const POLICIES = {
  back: 'Buckets of the tenant',
  title: 'Policy',
  none: 'No policy: the scopes of a key alone decide what it may do.',
  about: 'A policy denies: it takes from keys what their scopes allow, and widens none of them.',
  denies: 'denies',
  allows: 'allows: has no effect',
  every: 'everything',
  not: (what: string) => `everything but ${what}`,
  who: (principals: string) => `to ${principals}`,
  everyone: 'every key',
  on: (resources: string) => `on ${resources}`,
  when: 'under conditions',
  statement: (position: number) => `Statement ${position}`,
  json: 'The policy as JSON',
  set: 'Set the policy',
  setAbout: 'It replaces the present policy at once, at every node.',
  field: 'Policy',
  fieldHelp: 'JSON, as in S3: Version and Statement',
  noJson: (why: string) => `Policy: this is not JSON: ${why}`,
  plan: (denials: number, without: number) =>
    `${denials} ${denials === 1 ? 'statement denies' : 'statements deny'} something; ${without} ${without === 1 ? 'has' : 'have'} no effect.`,
  replaces: 'It replaces the present policy.',
  isSet: 'The policy is set.',
  remove: 'Remove the policy',
  removeAbout: 'What it denies is allowed again where the scopes of a key allow it.',
  removePlan: 'From then on the scopes of a key alone decide.',
  removed: 'The policy is removed.',
} as const
