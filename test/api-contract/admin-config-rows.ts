/**
 * The contract of the configuration and of the doctor.
 */
export const adminConfigRows = {
  'admin.config-environment': 'every key can be set by environment [decisions 15]',
  'admin.config-nearest': 'unknown keys refuse to start and name the nearest known one [decisions 15]',
  'admin.config-check': 'config check reports every fault [decisions 15]',
  'admin.config-exit': 'with exit code 2, for it is wrong use [decisions 15]',
  'admin.config-print': 'config print shows every value with its origin [decisions 15]',
  'admin.doctor-clean': 'doctor ends with 0 when nothing is wrong [decisions 15]',
  'admin.doctor-running': 'and asks a node that runs [decisions 15]',
  'admin.doctor-data-dir': 'it names wrong rights of the data directory [decisions 15]',
  'admin.doctor-key-file': 'of the master key file [decisions 15]',
  'admin.doctor-disk-full': 'a full disk [decisions 15]',
  'admin.doctor-foreign-cluster': 'data of another cluster [decisions 15]',
  'admin.doctor-master-key': 'a wrong master key [decisions 15]',
  'admin.doctor-clock': 'a clock that is off [decisions 15]',
  'admin.doctor-peer': 'a peer that cannot be reached [decisions 15]',
  'admin.doctor-certificate': 'a certificate that has expired [decisions 15]',
  'admin.doctor-port': 'a port in use [decisions 15]',
  'admin.doctor-version': 'an unsupported version [decisions 15]',
  'admin.doctor-configuration': 'and a configuration that cannot be understood [decisions 15]',
} as const
