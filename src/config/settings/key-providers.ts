/** The settings of what opens the lines of the key file: Vault, a key management service over HTTP, or a security module. */
import { SERVER_URL, type Setting } from './setting.ts'
import { DAY, HOUR, SECOND } from './units.ts'

const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,255}$/
const PATH_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*(\/[A-Za-z0-9][A-Za-z0-9_.-]*){0,7}$/

export const KEY_PROVIDER_SETTINGS = [
  {
    name: 'security.master_key_provider',
    kind: 'text',
    pattern: /^(file|vault|kms|pkcs11)$/,
    fallback: 'file',
    meaning:
      'what opens the lines of the key file. file: nothing, they hold the keys; vault: Transit of HashiCorp Vault or OpenBao; kms: a service with [this contract](formats/key-service.md); pkcs11: a security module, by pkcs11-tool of OpenSC. The same on every node',
    advice:
      'Set security.master_key_provider to file, vault, kms or pkcs11, for example security.master_key_provider: vault.',
  },
  {
    name: 'security.master_key_wait',
    kind: 'duration',
    fallback: '2m',
    min: SECOND,
    max: HOUR,
    meaning: 'how long a start tries again while the provider of the master key does not answer',
    advice: 'Set security.master_key_wait to a duration, for example security.master_key_wait: 2m.',
  },
  {
    name: 'security.master_key_check_every',
    kind: 'duration',
    fallback: '5m',
    min: SECOND,
    max: DAY,
    meaning:
      'how often a running node checks that its next start would get the keys from the file and the provider; nothing else of a running node depends on them',
    advice:
      'Set security.master_key_check_every to a duration, for example security.master_key_check_every: 5m.',
  },
  {
    name: 'security.vault.url',
    kind: 'text',
    pattern: SERVER_URL,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning: 'where Vault listens, without /v1 (http:// only on this machine)',
    advice:
      'Set security.vault.url to the address of Vault without /v1, for example security.vault.url: https://vault.example:8200.',
  },
  {
    name: 'security.vault.mount',
    kind: 'text',
    pattern: PATH_NAME,
    fallback: 'transit',
    meaning: 'the path at which the Transit engine is mounted',
    advice:
      'Set security.vault.mount to the path of the Transit engine, for example security.vault.mount: transit.',
  },
  {
    name: 'security.vault.key_name',
    kind: 'text',
    pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/,
    fallback: null,
    optional: true,
    meaning: 'the name of the Transit key; it should be used for nothing else',
    advice:
      'Set security.vault.key_name to the name of a Transit key, for example security.vault.key_name: holdfast.',
  },
  {
    name: 'security.vault.namespace',
    kind: 'text',
    pattern: PATH_NAME,
    fallback: null,
    optional: true,
    meaning: 'the namespace of the engine and of the login; without it the root namespace',
    advice:
      'Set security.vault.namespace to the path of a namespace, for example security.vault.namespace: team/storage.',
  },
  {
    name: 'security.vault.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) that the certificate of Vault is checked against; otherwise those of Node.js',
    advice:
      'Set security.vault.ca to a file with the authorities of Vault, for example security.vault.ca: certs/vault-ca.pem.',
  },
  {
    name: 'security.vault.auth',
    kind: 'text',
    pattern: /^(token|approle|jwt|kubernetes)$/,
    fallback: 'token',
    meaning: 'how a node logs in, which decides what security.vault.credential_file holds',
    advice:
      'Set security.vault.auth to token, approle, jwt or kubernetes, for example security.vault.auth: approle.',
  },
  {
    name: 'security.vault.auth_mount',
    kind: 'text',
    pattern: PATH_NAME,
    fallback: null,
    optional: true,
    meaning: 'the path at which the auth method is mounted; without it the name of the method',
    advice:
      'Set security.vault.auth_mount to the path of the auth method, for example security.vault.auth_mount: kubernetes-west.',
  },
  {
    name: 'security.vault.role',
    kind: 'text',
    pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/,
    fallback: null,
    optional: true,
    meaning: 'for approle the role id, for jwt and kubernetes the name of the role',
    advice:
      'Set security.vault.role to the role of this cluster in Vault, for example security.vault.role: holdfast.',
  },
  {
    name: 'security.vault.credential_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'a file, read again at each use: for token the token (such as the sink of a Vault agent), for approle the secret id, for jwt and kubernetes the JWT',
    advice:
      'Set security.vault.credential_file to a file with the credential, for example security.vault.credential_file: /etc/holdfast/vault-token.',
  },
  {
    name: 'security.kms.url',
    kind: 'text',
    pattern: SERVER_URL,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning: 'where the service listens, with its path if it has one (http:// only on this machine)',
    advice:
      'Set security.kms.url to the address of the service, for example security.kms.url: https://kms.example/holdfast.',
  },
  {
    name: 'security.kms.key_name',
    kind: 'text',
    pattern: KEY_NAME,
    fallback: null,
    optional: true,
    meaning: 'the name of the key in the service',
    advice:
      'Set security.kms.key_name to the name of a key of the service, for example security.kms.key_name: holdfast.',
  },
  {
    name: 'security.kms.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) that the certificate of the service is checked against; otherwise those of Node.js',
    advice:
      'Set security.kms.ca to a file with the authorities of the service, for example security.kms.ca: certs/kms-ca.pem.',
  },
  {
    name: 'security.kms.client_cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate (PEM) by which the service knows this node',
    advice:
      'Set security.kms.client_cert to a file with the certificate of this node, together with security.kms.client_key, for example security.kms.client_cert: certs/kms.pem.',
  },
  {
    name: 'security.kms.client_key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM)',
    advice:
      'Set security.kms.client_key to the file of the private key of security.kms.client_cert, for example security.kms.client_key: certs/kms.key.',
  },
  {
    name: 'security.kms.token_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'a file with the bearer token for the service, read again at each use',
    advice:
      'Set security.kms.token_file to a file with the token of the service, for example security.kms.token_file: /etc/holdfast/kms-token.',
  },
  {
    name: 'security.pkcs11.module',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the PKCS#11 library of the security module; it runs in a process of pkcs11-tool',
    advice:
      'Set security.pkcs11.module to the library of the security module, for example security.pkcs11.module: /usr/lib/softhsm/libsofthsm2.so.',
  },
  {
    name: 'security.pkcs11.token_label',
    kind: 'text',
    pattern: /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,31}$/,
    fallback: null,
    optional: true,
    meaning: 'the label of the token that holds the pair of keys',
    advice:
      'Set security.pkcs11.token_label to the label of the token, for example security.pkcs11.token_label: holdfast.',
  },
  {
    name: 'security.pkcs11.key_id',
    kind: 'text',
    pattern: /^([0-9a-f]{2}){1,32}$/,
    fallback: null,
    optional: true,
    meaning:
      'the id of an RSA pair in hexadecimal, in quotes; new lines are wrapped with it, older lines name their own pair',
    advice:
      "Set security.pkcs11.key_id to the id of an RSA pair in hexadecimal, for example security.pkcs11.key_id: '01'.",
  },
  {
    name: 'security.pkcs11.pin_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'a file with the PIN of the user of the token, read again at each use',
    advice:
      'Set security.pkcs11.pin_file to a file with the PIN, for example security.pkcs11.pin_file: /etc/holdfast/hsm-pin.',
  },
] as const satisfies readonly Setting[]
