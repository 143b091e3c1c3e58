/** The settings of the console: its address, and the log-in of people at an identity provider. */
import { SERVER_URL, type Setting } from './setting.ts'
import { DAY, MINUTE } from './units.ts'

const CLAIM = /^[^\s]{1,256}$/

export const CONSOLE_SETTINGS = [
  {
    name: 'console.url',
    kind: 'origin',
    fallback: null,
    optional: true,
    meaning:
      'the origin at which browsers reach the console, without a path; one name for all nodes if they are behind a proxy. The provider sends people back to /console/log-in/callback there. Without it the URL of listeners.admin is used',
    advice:
      'Set console.url to a scheme and a host without a path, for example console.url: https://storage.example.org.',
  },
  {
    name: 'console.oidc.issuer',
    kind: 'text',
    pattern: SERVER_URL,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning:
      'the issuer of the OpenID Connect provider at which people log in to the console (http:// only on this machine). Without it only tokens and access keys open the console',
    advice:
      'Set console.oidc.issuer to the issuer that the provider names in its discovery document, for example console.oidc.issuer: https://id.example.org/realms/company.',
  },
  {
    name: 'console.oidc.name',
    kind: 'text',
    pattern: /^[^\p{Cc}]{1,64}$/u,
    fallback: 'single sign-on',
    meaning: 'how the console names the provider, after "Log in with"',
    advice: 'Set console.oidc.name to 1 to 64 characters, for example console.oidc.name: Example SSO.',
  },
  {
    name: 'console.oidc.client_id',
    kind: 'text',
    pattern: /^[\x21-\x7e]{1,256}$/,
    fallback: null,
    optional: true,
    meaning: 'the id under which the provider knows this cluster; the same on every node',
    advice:
      'Set console.oidc.client_id to the client id of the provider, for example console.oidc.client_id: holdfast.',
  },
  {
    name: 'console.oidc.client_secret_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the file with the secret of that client, read at each log-in; without it the client is a public one, which PKCE alone protects',
    advice:
      'Set console.oidc.client_secret_file to a file that only the user of the node can read, for example console.oidc.client_secret_file: oidc-secret.',
  },
  {
    name: 'console.oidc.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) that sign the certificate of the provider, read when first needed; without it those of Node.js',
    advice:
      'Set console.oidc.ca to a file with the authorities of the provider, for example console.oidc.ca: certs/company-ca.pem.',
  },
  {
    name: 'console.oidc.scopes',
    kind: 'text',
    pattern: /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    fallback: 'openid profile',
    meaning: 'the scopes to ask for, separated by spaces; openid must be among them',
    advice:
      'Set console.oidc.scopes to the scopes that bring name and groups, for example console.oidc.scopes: openid profile groups.',
  },
  {
    name: 'console.oidc.groups_claim',
    kind: 'text',
    pattern: CLAIM,
    fallback: 'groups',
    meaning:
      'the claim of the ID token, or of userinfo where the token does not have it, that lists the groups of a person; dots name nested members, such as realm_access.roles',
    advice:
      'Set console.oidc.groups_claim to the name of the claim, for example console.oidc.groups_claim: groups.',
  },
  {
    name: 'console.oidc.name_claim',
    kind: 'text',
    pattern: CLAIM,
    fallback: 'preferred_username',
    meaning: 'the claim by which the audit log names a person; where it is missing, the subject',
    advice: 'Set console.oidc.name_claim to the name of a claim, for example console.oidc.name_claim: email.',
  },
  {
    name: 'console.oidc.rules',
    kind: 'roleRules',
    fallback: '',
    meaning:
      'which group has which role: the first rule whose group a person has decides, and if none applies the log-in is refused. A rule may limit the role to one tenant, and may forbid creating access keys',
    advice:
      'List group and role in console.oidc.rules, the strongest first, for example console.oidc.rules: [{group: storage-admins, role: owner}, {group: acme-ops, role: operator, tenant: acme}].',
  },
  {
    name: 'console.oidc.session',
    kind: 'duration',
    fallback: '8h',
    min: 5 * MINUTE,
    max: DAY,
    meaning: 'how long a session lasts at most; changes of groups take effect at the next log-in',
    advice: 'Set console.oidc.session to a duration, for example console.oidc.session: 8h.',
  },
  {
    name: 'console.oidc.idle',
    kind: 'duration',
    fallback: '30m',
    min: MINUTE,
    max: DAY,
    meaning: 'how long a session lasts without input',
    advice: 'Set console.oidc.idle to a duration, for example console.oidc.idle: 30m.',
  },
  {
    name: 'console.oidc.log_out_at_provider',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether "Log out" continues at the provider, after the session has ended here, if its discovery document names end_session_endpoint. The provider must know /console/ of console.url as a redirect URI after log-out',
    advice:
      'Set console.oidc.log_out_at_provider to true or false, for example console.oidc.log_out_at_provider: true.',
  },
] as const satisfies readonly Setting[]
