package mariadb

// Refusals are which errors of a write are rejections.
var Refusals = refusals
