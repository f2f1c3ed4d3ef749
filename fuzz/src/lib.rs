//! What the fuzz targets will share. No targets yet: the differential tests in `../tests` draw random problems meanwhile.
