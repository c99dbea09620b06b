import Type from 'typebox';
import { Word } from './word.ts';

const Path = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, description });

/** Settings of the OPC UA server, see docs/opcua.md. */
export const OpcuaProperties = {
  opcua_port: Type.Union([Type.Integer({ minimum: 1, maximum: 65_535 }), Type.Null()], {
    default: null,
    description: 'Port of the OPC UA server with zones and trackables, usually 4840. null: it is off.',
  }),
  opcua_security: Word(['SignAndEncrypt', 'Sign', 'None'], {
    default: 'SignAndEncrypt',
    description: 'Least security of OPC UA connections: SignAndEncrypt, Sign, or None.',
  }),
  opcua_certificate_path: Path(
    'PEM file with the certificate of the OPC UA server. null: the hub creates one in the folder opcua of its data.',
  ),
  opcua_private_key_path: Path('PEM file with the private key of that certificate.'),
  opcua_trusted_clients_path: Path('Folder with the certificates of permitted OPC UA clients. null: all clients.'),
};
