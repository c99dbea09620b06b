import { billOfMaterials } from './bill_of_materials.ts';

// Writes the bill of materials to standard output.
process.stdout.write(`${JSON.stringify(billOfMaterials(), undefined, 2)}\n`);
